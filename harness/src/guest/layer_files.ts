// File operations on the capsule's own files, answered without a message. Anything else is relay's to decide.

import { normalizePath, type LayerTree } from "./layers";
import type { ReplyHeader, WireError } from "./wire";

export interface LocalAnswer {
  header: Omit<ReplyHeader, "id">;
  body?: Uint8Array;
}

interface FileArgs {
  path?: string;
  from?: string;
  offset?: number;
  length?: number;
}

const READING = new Set(["fs.stat", "fs.list", "fs.read"]);

function fail(errno: string, message: string): LocalAnswer {
  return { header: { ok: false, error: { type: "FileError", message, errno } satisfies WireError } };
}

/** The answer, or undefined when the path is not the capsule's. */
export function answerFromLayers(tree: LayerTree, op: string, argsText: string): LocalAnswer | undefined {
  if (!op.startsWith("fs.")) return undefined;
  const args = JSON.parse(argsText) as FileArgs;
  const path = normalizePath(String(args.path ?? args.from ?? "/"));
  if (!tree.owns(path)) return undefined;
  if (!READING.has(op)) return fail("EROFS", `${path} belongs to the capsule and is read-only`);
  const file = tree.file(path);
  if (!file && !tree.isFolder(path)) return fail("ENOENT", `no such file: ${path}`);
  if (op === "fs.stat") return { header: { ok: true, result: describe(tree, path) } };
  if (op === "fs.list") return file ? fail("ENOTDIR", `not a folder: ${path}`) : { header: { ok: true, result: list(tree, path) } };
  return file ? slice(file.read(), args) : fail("EISDIR", `is a folder: ${path}`);
}

function describe(tree: LayerTree, path: string) {
  const file = tree.file(path);
  return { type: file ? "file" : "dir", size: file?.size ?? 0, mtimeMs: 0, mode: file ? 0o444 : 0o555 };
}

function list(tree: LayerTree, path: string) {
  const entries = (tree.names(path) ?? []).sort().map((name) => {
    const { type, size } = describe(tree, `${path}/${name}`);
    return { name, type, size };
  });
  return { entries };
}

function slice(bytes: Uint8Array, { offset = 0, length }: FileArgs): LocalAnswer {
  const end = length === undefined ? bytes.length : Math.min(bytes.length, offset + length);
  return { header: { ok: true, result: { size: bytes.length, eof: end >= bytes.length } }, body: bytes.subarray(offset, end) };
}
