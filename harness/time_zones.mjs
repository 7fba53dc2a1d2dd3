// The time zones of Debian's package tzdata as Python's package of the same name: one zip that zoneinfo finds on sys.path.

import { existsSync, readFileSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { zipOf } from "./zip_writer.mjs";

const SOURCE = "/usr/share/zoneinfo";
/** Copies of the same zones in other forms, and what is no zone. */
const LEFT_OUT = new Set(["posix", "right", "localtime", "posixrules", "Factory"]);
const TZIF = "TZif";

function zonesBelow(folder, prefix = "") {
  const zones = {};
  for (const entry of readdirSync(folder, { withFileTypes: true })) {
    const path = join(folder, entry.name), name = prefix + entry.name;
    if (LEFT_OUT.has(name)) continue;
    if (entry.isDirectory()) Object.assign(zones, zonesBelow(path, `${name}/`));
    else if (readFileSync(path).subarray(0, 4).toString("latin1") === TZIF) zones[name] = readFileSync(path);
  }
  return zones;
}

function versionOf() {
  const head = readFileSync(join(SOURCE, "tzdata.zi"), "latin1").split("\n", 1)[0];
  return /version (\S+)/.exec(head)?.[1] ?? "unknown";
}

export function timeZones() {
  if (!existsSync(join(SOURCE, "tzdata.zi"))) throw new Error(`${SOURCE} has no time zones: install Debian's package tzdata`);
  const zones = zonesBelow(SOURCE);
  const names = Object.keys(zones).sort();
  const folders = new Set(["tzdata/zoneinfo"]);
  for (const name of names) for (let at = name.indexOf("/"); at >= 0; at = name.indexOf("/", at + 1)) folders.add(`tzdata/zoneinfo/${name.slice(0, at)}`);
  const files = { "tzdata/__init__.py": `IANA_VERSION = "${versionOf()}"\n`, "tzdata/zones": `${names.join("\n")}\n` };
  for (const folder of [...folders].sort()) files[`${folder}/__init__.py`] = "";
  for (const name of names) files[`tzdata/zoneinfo/${name}`] = zones[name];
  return zipOf(files);
}
