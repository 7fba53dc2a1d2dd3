// A run is a signed manifest plus layers. Nothing of it is looked at, let alone run, before the signature over the exact
// manifest bytes and the hash of every layer have been checked.

import type { Channel, Frame, LayerHeader, StartHeader } from "./wire";

export interface Entry {
  path: string;
  argv: string[];
  env: Record<string, string>;
  cwd: string;
}

export interface Layer {
  id: string;
  format: "zip" | "raw";
  path?: string;
  mount?: string;
  sha256: string;
  bytes: Uint8Array;
}

export interface Capsule {
  language: string;
  entry: Entry;
  layers: Layer[];
  stdin: Uint8Array;
  header: StartHeader;
}

export class CapsuleRefused extends Error {
  override name = "CapsuleRefused";
}

function refuse(why: string): never {
  throw new CapsuleRefused(`capsule refused: ${why}`);
}

function object(value: unknown, what: string): Record<string, unknown> {
  if (typeof value !== "object" || value === null || Array.isArray(value)) refuse(`${what} is not an object`);
  return value as Record<string, unknown>;
}

function checkSignature(channel: Channel, { manifest, sig, key }: StartHeader): void {
  const reason = channel.verifyManifest(manifest, String(sig), String(key));
  if (reason !== "") refuse(reason);
}

interface Promised {
  sha256: string;
  mount?: string;
}

function promisedLayers(manifest: Record<string, unknown>): Map<string, Promised> {
  const list = manifest.fsLayers ?? manifest.layers;
  if (!Array.isArray(list)) refuse("the manifest names no layers");
  const promised = new Map<string, Promised>();
  for (const item of list) {
    const layer = object(item, "a layer");
    if (typeof layer.id !== "string" || typeof layer.sha256 !== "string") refuse("a layer has no id or hash");
    if (promised.has(layer.id)) refuse(`the layer ${layer.id} appears twice`);
    promised.set(layer.id, { sha256: layer.sha256, mount: typeof layer.mount === "string" ? layer.mount : undefined });
  }
  return promised;
}

/** Layers of the last start that passed the check, by their hash. */
export type HeldLayers = Map<string, Uint8Array>;

function checkLayers(channel: Channel, sent: LayerHeader[], promised: Map<string, Promised>, body: Uint8Array, known: HeldLayers) {
  const layers: Layer[] = [];
  let at = 0;
  for (const { id, bytes: size, format, path, held } of sent) {
    const promise = promised.get(id) ?? refuse(`the layer ${id} is not in the manifest`);
    if (!Number.isInteger(size) || size < 0 || at + size > body.length) refuse(`the layer ${id} is cut short`);
    const sha256 = promise.sha256.toLowerCase();
    const bytes = held ? known.get(sha256) ?? refuse(`the layer ${id} is not held here`) : body.subarray(at, at + size);
    at += size;
    if (!held && channel.sha256(bytes).toLowerCase() !== sha256) refuse(`the layer ${id} has another hash`);
    layers.push({ id, format: format ?? "zip", path, mount: promise.mount, sha256, bytes });
    promised.delete(id);
  }
  known.clear();
  for (const { format, sha256, bytes } of layers) if (format === "zip") known.set(sha256, bytes);
  if (promised.size > 0) refuse(`the layer ${[...promised.keys()][0]} was not sent`);
  return { layers, rest: body.subarray(at) };
}

function strings(value: unknown, what: string): string[] {
  if (value === undefined) return [];
  if (!Array.isArray(value)) refuse(`${what} is not a list`);
  return value.map(String);
}

function readEntry(manifest: Record<string, unknown>): Entry {
  const entry = object(manifest.entry, "the entry");
  if (typeof entry.path !== "string") refuse("the entry has no path");
  const env: Record<string, string> = {};
  for (const [name, value] of Object.entries(object(entry.env ?? {}, "the environment"))) env[name] = String(value);
  const cwd = typeof entry.cwd === "string" && entry.cwd.startsWith("/") ? entry.cwd : "/";
  return { path: entry.path, argv: strings(entry.argv, "argv"), env, cwd };
}

/** The whole check. What it returns may run; what it throws is a CapsuleRefused with the reason. */
export function openCapsule(channel: Channel, frame: Frame, language: "js" | "py", known: HeldLayers): Capsule {
  let header: StartHeader;
  try {
    header = object(JSON.parse(frame.header), "the start message") as unknown as StartHeader;
  } catch {
    refuse("the start message is not JSON");
  }
  if (typeof header.manifest !== "string") refuse("there is no manifest");
  checkSignature(channel, header);
  const manifest = object(JSON.parse(header.manifest), "the manifest");
  if (manifest.language !== language) refuse(`it is for ${String(manifest.language)}, this is ${language}`);
  const { layers, rest } = checkLayers(channel, header.layers ?? [], promisedLayers(manifest), frame.body, known);
  const stdin = rest.subarray(0, header.stdinBytes ?? rest.length);
  return { language, entry: readEntry(manifest), layers, stdin, header };
}
