// `fs` and `fs/promises` over the wire. Every function exists once as a description of its requests (a generator) and is
// driven in three styles: synchronous, promise, callback.

import { Buffer } from "./buffer";
import { readAll } from "./process";
import { request, requestSync, type Answer } from "./requests";
import { resolve } from "./path";
import { toBytes } from "./streams";
import { Dirent, FileHandle, Stats } from "./file_types";
import { ReadStream, WriteStream } from "./file_streams";
import { closeFile, openFile, pathOfOpen, readOpen, statOpen, truncateOpen, writeOpen } from "./open_files";

const READ_CHUNK = 4 * 1024 * 1024;
export const constants = { F_OK: 0, R_OK: 4, W_OK: 2, X_OK: 1, COPYFILE_EXCL: 1 };
type Step = { op: string; args: object; body?: Uint8Array };
export type Plan<T> = Generator<Step, T, Answer>;
type Options = string | { encoding?: string | null; flag?: string; recursive?: boolean; withFileTypes?: boolean; force?: boolean } | null | undefined;

export function pathOf(path: unknown): string {
  if (typeof path === "number") return pathOfOpen(path);
  if (path instanceof URL) return decodeURIComponent(path.pathname);
  if (path instanceof Uint8Array) return new TextDecoder().decode(path);
  if (typeof path !== "string") throw Object.assign(new TypeError('The "path" argument must be of type string'), { code: "ERR_INVALID_ARG_TYPE" });
  if (path.includes("\0")) throw Object.assign(new TypeError("The path must not contain null bytes"), { code: "ERR_INVALID_ARG_VALUE" });
  return resolve(path);
}

/** Node's wording: `ENOENT: no such file or directory, open '/x'`, with code, syscall and path. */
function nodeError(error: any, syscall: string, path: string): Error {
  if (!error?.code) return error;
  const text = String(error.message).replace(/^E[A-Z]+:\s*/, "");
  const made = new Error(`${error.code}: ${text}, ${syscall} '${path}'`);
  return Object.assign(made, { code: error.code, syscall, path });
}

const encodingOf = (options: Options) => (typeof options === "string" ? options : options?.encoding ?? undefined);
const objectOf = (options: Options) => (typeof options === "object" && options !== null ? options : {});

function* readRange(path: string, offset: number, length: number): Plan<Answer> {
  return yield { op: "fs.read", args: { path, offset, length } };
}

function* readFile(path: string, options?: Options): Plan<string | Buffer> {
  const parts: Uint8Array[] = [];
  let offset = 0;
  for (;;) {
    const { result, body } = yield* readRange(path, offset, READ_CHUNK);
    parts.push(body);
    offset += body.length;
    if (result?.eof !== false || body.length === 0) break;
  }
  const whole = parts.length === 1 ? Buffer.from(parts[0]!.buffer, parts[0]!.byteOffset, parts[0]!.byteLength) : Buffer.concat(parts);
  const encoding = encodingOf(options);
  return encoding ? whole.toString(encoding) : whole;
}

function* writeWith(mode: string, path: string, data: unknown, options?: Options): Plan<void> {
  const encoding = encodingOf(options);
  const bytes = typeof data === "string" && encoding ? Buffer.from(data, encoding) : toBytes(data);
  const exclusive = objectOf(options).flag?.includes("x") || undefined;
  const first = exclusive ? "create" : objectOf(options).flag?.startsWith("a") ? "append" : mode;
  yield { op: "fs.write", args: { path, mode: first, exclusive }, body: bytes.subarray(0, READ_CHUNK) };
  for (let at = READ_CHUNK; at < bytes.length; at += READ_CHUNK)
    yield { op: "fs.write", args: { path, mode: "append" }, body: bytes.subarray(at, at + READ_CHUNK) };
}

function* stat(path: string): Plan<Stats> {
  return new Stats((yield { op: "fs.stat", args: { path } }).result);
}

function* lstat(path: string): Plan<Stats> {
  return new Stats((yield { op: "fs.stat", args: { path, follow: false } }).result);
}

function* readdir(path: string, options?: Options): Plan<(string | Dirent)[]> {
  const { withFileTypes, recursive } = objectOf(options);
  const out: (string | Dirent)[] = [];
  const folders = [""];
  for (let folder = folders.shift(); folder !== undefined; folder = folders.shift()) {
    const at = folder ? `${path}/${folder}` : path;
    const { result } = yield { op: "fs.list", args: { path: at } };
    for (const { name, type } of result.entries as { name: string; type: string }[]) {
      const relative = folder ? `${folder}/${name}` : name;
      out.push(withFileTypes ? new Dirent(name, at, type) : relative);
      if (recursive && type === "dir") folders.push(relative);
    }
  }
  return out;
}

function* mkdir(path: string, options?: Options): Plan<string | undefined> {
  yield { op: "fs.mkdir", args: { path, recursive: objectOf(options).recursive === true } };
  return undefined;
}

function fileError(code: string, message: string): Error {
  return Object.assign(new Error(message), { code });
}

function* rm(path: string, options?: Options): Plan<void> {
  const { recursive = false } = objectOf(options);
  if (!recursive && (yield* lstat(path)).isDirectory()) throw fileError("ERR_FS_EISDIR", "Path is a directory");
  yield { op: "fs.remove", args: { path, recursive } };
}

function* unlink(path: string): Plan<void> {
  if ((yield* lstat(path)).isDirectory()) throw fileError("EISDIR", "illegal operation on a directory");
  yield { op: "fs.remove", args: { path, recursive: false } };
}

function* rmdir(path: string): Plan<void> {
  if (!(yield* lstat(path)).isDirectory()) throw fileError("ENOTDIR", "not a directory");
  yield { op: "fs.remove", args: { path, recursive: false } };
}

function* rename(path: string, to: unknown): Plan<void> {
  yield { op: "fs.rename", args: { from: path, to: pathOf(to) } };
}

/** Piece by piece: a file need not fit into memory to be copied. */
function* copyFile(path: string, to: unknown, mode = 0): Plan<void> {
  const target = pathOf(to), exclusive = (mode & constants.COPYFILE_EXCL) !== 0 || undefined;
  for (let offset = 0; ; ) {
    const { result, body } = yield* readRange(path, offset, READ_CHUNK);
    const how = offset > 0 ? "append" : exclusive ? "create" : "overwrite";
    yield { op: "fs.write", args: { path: target, mode: how, exclusive: offset === 0 ? exclusive : undefined }, body };
    offset += body.length;
    if (result?.eof !== false || body.length === 0) return;
  }
}

function* cp(path: string, to: unknown, options?: Options): Plan<void> {
  const target = pathOf(to);
  if (!(yield* stat(path)).isDirectory()) return yield* copyFile(path, target);
  if (objectOf(options).recursive !== true) throw fileError("ERR_FS_EISDIR", "Recursive option not enabled, cannot copy a directory");
  if (`${target}/`.startsWith(`${path}/`)) throw fileError("ERR_FS_CP_EINVAL", "cannot copy a directory into itself");
  yield { op: "fs.mkdir", args: { path: target, recursive: true } };
  const { result } = yield { op: "fs.list", args: { path } };
  for (const { name } of result.entries as { name: string }[]) yield* cp(`${path}/${name}`, `${target}/${name}`, options);
}

function* truncate(path: string, size = 0): Plan<void> {
  yield { op: "fs.truncate", args: { path, size } };
}

function* access(path: string): Plan<void> {
  yield { op: "fs.stat", args: { path } };
}

function* realpath(path: string): Plan<string> {
  yield { op: "fs.stat", args: { path } };
  return path;
}

function* mkdtemp(prefix: string): Plan<string> {
  const path = prefix + Math.random().toString(36).slice(2, 8).padEnd(6, "0");
  yield { op: "fs.mkdir", args: { path, recursive: false } };
  return path;
}

/** name → [Node's syscall name, the plan]. */
const PLANS: Record<string, [string, (path: string, ...rest: any[]) => Plan<any>]> = {
  readFile: ["open", readFile],
  writeFile: ["open", (path, data, options) => writeWith("overwrite", path, data, options)],
  appendFile: ["open", (path, data, options) => writeWith("append", path, data, options)],
  stat: ["stat", stat],
  lstat: ["lstat", lstat],
  readdir: ["scandir", readdir],
  mkdir: ["mkdir", mkdir],
  rm: ["rm", rm],
  rmdir: ["rmdir", rmdir],
  unlink: ["unlink", unlink],
  cp: ["cp", cp],
  rename: ["rename", rename],
  copyFile: ["copyfile", copyFile],
  truncate: ["open", truncate],
  access: ["access", access],
  realpath: ["realpath", realpath],
  mkdtemp: ["mkdtemp", mkdtemp],
};

export function driveSync<T>(plan: Plan<T>): T {
  let step = plan.next();
  while (!step.done) step = plan.next(requestSync(step.value.op, step.value.args, step.value.body));
  return step.value;
}

export async function driveAsync<T>(plan: Plan<T>): Promise<T> {
  let step = plan.next();
  while (!step.done) step = plan.next(await request(step.value.op, step.value.args, step.value.body).answer);
  return step.value;
}

function ignores(name: string, options: any, error: any): boolean {
  return name === "rm" && options?.force === true && error?.code === "ENOENT";
}

function syncOf(name: string) {
  const [syscall, plan] = PLANS[name]!;
  return (path: unknown, ...rest: any[]) => {
    if (name === "readFile" && (path === 0 || path === "/dev/stdin")) return stdinAs(rest[0]);
    const target = pathOf(path);
    try {
      return driveSync(plan(target, ...rest));
    } catch (error) {
      if (ignores(name, rest[0], error)) return undefined;
      throw nodeError(error, syscall, target);
    }
  };
}

function asyncOf(name: string) {
  const [syscall, plan] = PLANS[name]!;
  return async (path: unknown, ...rest: any[]) => {
    if (name === "readFile" && (path === 0 || path === "/dev/stdin")) return stdinAs(rest[0]);
    const target = pathOf(path);
    try {
      return await driveAsync(plan(target, ...rest));
    } catch (error) {
      if (ignores(name, rest[0], error)) return undefined;
      throw nodeError(error, syscall, target);
    }
  };
}

function stdinAs(options: Options): string | Buffer {
  const bytes = Buffer.from(readAll());
  const encoding = encodingOf(options);
  return encoding ? bytes.toString(encoding) : bytes;
}

function callbackOf(run: (...args: any[]) => Promise<unknown>) {
  return (...args: any[]) => {
    const done = args.pop();
    if (typeof done !== "function") throw new TypeError('The "cb" argument must be of type function');
    run(...args).then((value) => done(null, value), (error) => done(error));
  };
}

export const promises: Record<string, any> = { constants };
export const fs: Record<string, any> = { constants, promises, Stats, Dirent };
for (const name of Object.keys(PLANS)) {
  promises[name] = asyncOf(name);
  fs[name + "Sync"] = syncOf(name);
  fs[name] = callbackOf(promises[name]);
}
fs.existsSync = (path: unknown) => {
  try {
    fs.accessSync(path);
    return true;
  } catch {
    return false;
  }
};
fs.exists = (path: unknown, done: (found: boolean) => void) => promises.access(path).then(() => done(true), () => done(false));
/** The calls on open files, with Node's errors. */
function onOpen<T extends any[], R>(syscall: string, path: (...args: T) => string, run: (...args: T) => R) {
  return (...args: T): R => {
    try {
      return run(...args);
    } catch (error: any) {
      throw error?.syscall ? error : nodeError(error, syscall, path(...args));
    }
  };
}
const named = (fd: number, ..._rest: any[]) => pathOfOpen(fd);
fs.openSync = onOpen("open", pathOf, (path: unknown, flags?: string | number) => openFile(pathOf(path), flags));
fs.closeSync = closeFile;
fs.readSync = onOpen("read", named, readOpen);
fs.writeSync = onOpen("write", named, writeOpen);
fs.fstatSync = onOpen("fstat", named, statOpen);
fs.ftruncateSync = onOpen("ftruncate", named, truncateOpen);
fs.fsyncSync = fs.fdatasyncSync = (fd: number) => void pathOfOpen(fd);
fs.createReadStream = (path: unknown, options?: any) => new ReadStream(pathOf(path), options);
fs.createWriteStream = (path: unknown, options?: any) => new WriteStream(pathOf(path), options);
fs.ReadStream = ReadStream;
fs.WriteStream = WriteStream;
promises.open = async (path: unknown, flags = "r") => FileHandle.open(pathOf(path), flags, promises);
