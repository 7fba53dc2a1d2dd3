// Finds the names that CommonJS packages export: node commonjs-names.mjs METAFILE ENTRY OUTPUT, run beside node_modules.
// ENTRY is the input of esbuild's metafile whose imports are looked at. The output is JSON: {"specifier": ["name", …]}.

import { readFileSync, writeFileSync } from "node:fs";
import { commonjsNames } from "./commonjs_names.mjs";

const [metafile, entry, output] = process.argv.slice(2);
writeFileSync(output, JSON.stringify(commonjsNames(JSON.parse(readFileSync(metafile, "utf8")), entry, ".")));
