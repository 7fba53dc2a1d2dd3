// The programs that a zygote runs before its first fork, as signed start frames: the warm-up goes the whole way that a real run
// goes, signature and hashes included. The key is public and signs nothing else; Ed25519 is deterministic, so builds agree.

import { createHash, createPrivateKey, createPublicKey, sign } from "node:crypto";
import { zipOf } from "./zip_writer.mjs";

const SEED_PREFIX = Buffer.from("302e020100300506032b657004220420", "hex");
const privateKey = createPrivateKey({ key: Buffer.concat([SEED_PREFIX, Buffer.alloc(32, 7)]), format: "der", type: "pkcs8" });
const spki = createPublicKey(privateKey).export({ type: "spki", format: "der" });
const base64url = (data) => Buffer.from(data).toString("base64url");

/** The first shows what the least of runs touches; the others go down the side roads: errors, files, timers, modules. None
 * declares a name at its top level, where the next program of the same engine would find it. */
const PROGRAMS = {
  js: [
    "console.log('warm')",
    "console.log('warm', 1, {a: [1]}); await null; ({ok: [true]})",
    "{ const fs = await import('node:fs'); try { fs.readFileSync('/tmp/warm') } catch (error) { console.error(error.message) } }\n" +
      "setTimeout(() => {}, 0); await new Promise((go) => setTimeout(go, 1)); process.stdout.write('x\\n'); new Map([[1, new Set([2])]])",
    "import 'relay-warm';\nimport {} from 'node:path';\n(await import('relay-warm')).default",
    "(() => {\n  return null.x;\n})()",
    "const x = ;",
    "{\n  interface A { x: number; y?: string[] }\n  class B<T> implements A { constructor(public x: number, private z: T) {} }\n  const f = async (a: A): Promise<number> => a.x as number;\n  await f(new B<string>(1, 'z'));\n}",
  ],
  py: [
    "print('warm')",
    "print('warm', [1, {'a': 2}])\n{'ok': [True]}",
    "import asyncio, json, os\ntry:\n    open('/tmp/warm').read()\nexcept OSError as error:\n    print(error)\nawait asyncio.sleep(0.001)\njson.dumps({'a': [1, 2.5, None]})",
    "def f():\n    return 1 / 0\nf()",
    "x = = 1",
  ],
};

/** Packages, for the programs that import. Long enough to be packed. */
const DEPS = Buffer.from(zipOf({
  "deps/index.json": JSON.stringify({ "relay-warm": "/deps/relay-warm.mjs", "relay-warm/more": "/deps/relay-warm+more.mjs" }) + " ".repeat(100),
  "deps/relay-warm.mjs": `export default 1; // ${"warm ".repeat(40)}`,
}));

/** As relay writes it, names in the same order: V8 knows an object's shape by the order of its names. */
const POLICY = {
  filesystem: { readonly: ["/"], writable: ["/tmp", "/out"] },
  limits: { memMb: 256, stdoutBytes: 1048576, timeoutMs: 60000 },
  network: { allowedDomains: [], blockPrivateRanges: true, deniedDomains: [], denyIpLiterals: true, maxBodyBytes: 5242880, maxRedirects: 5 },
};

function startFrame(language, code) {
  const path = `/app/main.${language}`;
  const bytes = Buffer.from(code);
  const sha256 = (data) => createHash("sha256").update(data).digest("hex");
  const fsLayers = [{ bytes: bytes.length, format: "raw", id: "code", mount: path, path: `main.${language}`, sha256: sha256(bytes) }];
  const layers = [{ id: "code", bytes: bytes.length, format: "raw", path }];
  const body = [bytes];
  if (/\bimport '/.test(code)) {
    fsLayers.push({ bytes: DEPS.length, format: "zip", id: "deps", mount: "/", path: "deps.zip", sha256: sha256(DEPS) });
    layers.push({ id: "deps", bytes: DEPS.length, format: "zip" });
    body.push(DEPS);
  }
  const manifest = JSON.stringify({
    entry: { argv: [], cwd: "/", env: {}, path }, fsLayers,
    language, policy: POLICY, runtime: { id: "warm@1" }, version: "1",
  });
  const head = base64url(JSON.stringify({ alg: "EdDSA", kid: "0000000000000000", typ: "relay-capsule" }));
  const signature = base64url(sign(null, Buffer.from(`${head}.${base64url(manifest)}`), privateKey));
  const header = {
    run: "warm", manifest, sig: `${head}..${signature}`, key: spki.toString("base64"),
    layers, stdinBytes: 0, stdinLive: false, servers: [],
    limits: { memMb: 256, cpuMs: 60000 },
  };
  return { header: JSON.stringify(header), body: Buffer.concat(body).toString("latin1") };
}

/** Per language a list of {header, body}; a body has a character for each byte. */
export function warmFrames() {
  return Object.fromEntries(Object.entries(PROGRAMS).map(([language, codes]) => [language, codes.map((code) => startFrame(language, code))]));
}
