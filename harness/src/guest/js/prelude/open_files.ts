// Open files by number: openSync, readSync, writeSync and their kin. An open file is a path and a position, and each read or
// write is one request for exactly that range, so a large file is never copied whole.

import { Stats } from "./file_types";
import { requestSync } from "./requests";
import { toBytes } from "./streams";

interface OpenFile {
  path: string;
  position: number;
  reads: boolean;
  writes: boolean;
  appends: boolean;
}

const FIRST = 3;
const open: (OpenFile | undefined)[] = [];

function failed(code: string, text: string, syscall: string): Error {
  return Object.assign(new Error(`${code}: ${text}, ${syscall}`), { code, syscall });
}

function fileOf(fd: number, syscall: string): OpenFile {
  const found = open[fd - FIRST];
  if (!found) throw failed("EBADF", "bad file descriptor", syscall);
  return found;
}

/** "r", "r+", "w", "wx", "a+" … as Node spells them, or O_RDONLY. */
export function openFile(path: string, flags: string | number = "r"): number {
  const text = flags === 0 ? "r" : String(flags);
  const kind = text[0];
  if (kind !== "r" && kind !== "w" && kind !== "a") throw Object.assign(new TypeError(`The argument 'flags' is invalid. Received '${text}'`), { code: "ERR_INVALID_ARG_VALUE" });
  const file = { path, position: 0, reads: kind === "r" || text.includes("+"), writes: kind !== "r" || text.includes("+"), appends: kind === "a" };
  if (kind === "r") {
    const { result } = requestSync("fs.stat", { path });
    if (result.type === "dir" && file.writes) throw failed("EISDIR", "illegal operation on a directory", "open");
  } else {
    const mode = kind === "a" ? "append" : text.includes("x") ? "create" : "overwrite";
    requestSync("fs.write", { path, mode, exclusive: text.includes("x") || undefined }, new Uint8Array(0));
  }
  let slot = open.indexOf(undefined);
  if (slot < 0) slot = open.length;
  open[slot] = file;
  return slot + FIRST;
}

export function closeFile(fd: number): void {
  fileOf(fd, "close");
  open[fd - FIRST] = undefined;
}

export function readOpen(fd: number, buffer: Uint8Array, offset: any = 0, length?: number, position?: number | null): number {
  if (typeof offset === "object" && offset !== null) ({ offset = 0, length, position } = offset);
  const file = fileOf(fd, "read");
  if (!file.reads) throw failed("EBADF", "bad file descriptor", "read");
  const wanted = length ?? buffer.length - offset;
  const { body } = requestSync("fs.read", { path: file.path, offset: position ?? file.position, length: wanted });
  buffer.set(body.subarray(0, wanted), offset);
  if (position === undefined || position === null) file.position += body.length;
  return body.length;
}

function bytesOf(data: unknown, offset?: number, length?: number): Uint8Array {
  if (typeof data === "string") return toBytes(data);
  const bytes = toBytes(data);
  return bytes.subarray(offset ?? 0, length === undefined ? undefined : (offset ?? 0) + length);
}

export function writeOpen(fd: number, data: unknown, offset?: number | null, length?: any, position?: number | null): number {
  const file = fileOf(fd, "write");
  if (!file.writes) throw failed("EBADF", "bad file descriptor", "write");
  const isText = typeof data === "string";
  const bytes = isText ? bytesOf(data) : bytesOf(data, offset ?? undefined, length);
  const at = (isText ? offset : position) ?? null;
  const where = file.appends ? { mode: "append" } : { mode: "at", offset: at ?? file.position };
  requestSync("fs.write", { path: file.path, ...where }, bytes);
  if (at === null) file.position += bytes.length;
  return bytes.length;
}

export const statOpen = (fd: number): Stats => new Stats(requestSync("fs.stat", { path: fileOf(fd, "fstat").path }).result);
export const truncateOpen = (fd: number, size = 0): void => void requestSync("fs.truncate", { path: fileOf(fd, "ftruncate").path, size });
/** What readFile and writeFile work on when they are given a number. */
export const pathOfOpen = (fd: number): string => fileOf(fd, "open").path;
