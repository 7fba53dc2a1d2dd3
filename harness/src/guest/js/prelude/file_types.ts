// Stats, Dirent and FileHandle: what fs functions return.

import { Buffer } from "./buffer";
import { request } from "./requests";
import { toBytes } from "./streams";

interface StatResult {
  type: string;
  size: number;
  mtimeMs?: number;
  mode?: number;
}

const TYPE_BITS: Record<string, number> = { file: 0o100000, dir: 0o040000, link: 0o120000 };

export class Stats {
  readonly size: number;
  readonly mode: number;
  readonly mtimeMs: number;
  readonly mtime: Date;
  constructor(from: StatResult) {
    this.size = from.size;
    this.mode = ((from.mode ?? 0o644) & 0o7777) | (TYPE_BITS[from.type] ?? 0);
    this.mtimeMs = from.mtimeMs ?? 0;
    this.mtime = new Date(this.mtimeMs);
  }
  get ctime(): Date {
    return this.mtime;
  }
  get atime(): Date {
    return this.mtime;
  }
  get birthtime(): Date {
    return this.mtime;
  }
  isFile(): boolean {
    return (this.mode & 0o170000) === TYPE_BITS.file;
  }
  isDirectory(): boolean {
    return (this.mode & 0o170000) === TYPE_BITS.dir;
  }
  isSymbolicLink(): boolean {
    return (this.mode & 0o170000) === TYPE_BITS.link;
  }
}

export class Dirent {
  readonly parentPath: string;
  #type: string;
  constructor(readonly name: string, parent: string, type: string) {
    this.parentPath = parent;
    this.#type = type;
  }
  get path(): string {
    return this.parentPath;
  }
  isFile(): boolean {
    return this.#type === "file";
  }
  isDirectory(): boolean {
    return this.#type === "dir";
  }
  isSymbolicLink(): boolean {
    return this.#type === "link";
  }
}

/** An open file is a path and a position: each read and write is one request at its offset. */
export class FileHandle {
  #position = 0;
  private constructor(readonly path: string, private readonly fs: Record<string, any>, private readonly appends: boolean) {}

  static async open(path: string, flags: string, fs: Record<string, any>): Promise<FileHandle> {
    if (flags.startsWith("r")) await fs.access(path);
    else if (flags.startsWith("w")) await fs.writeFile(path, "", { flag: flags });
    else await fs.appendFile(path, "");
    return new FileHandle(path, fs, flags.startsWith("a"));
  }
  async read(buffer: Uint8Array, offset = 0, length = buffer.length - offset, position: number | null = null) {
    const at = position ?? this.#position;
    const { body } = await request("fs.read", { path: this.path, offset: at, length }).answer;
    buffer.set(body.subarray(0, length), offset);
    if (position === null) this.#position += body.length;
    return { bytesRead: body.length, buffer };
  }
  async write(data: unknown, position: number | null = null) {
    const bytes = toBytes(data);
    const args = this.appends ? { path: this.path, mode: "append" } : { path: this.path, mode: "at", offset: position ?? this.#position };
    await request("fs.write", args, bytes).answer;
    if (position === null) this.#position += bytes.length;
    return { bytesWritten: bytes.length, buffer: data };
  }
  readFile(options?: unknown): Promise<string | Buffer> {
    return this.fs.readFile(this.path, options);
  }
  writeFile(data: unknown, options?: unknown): Promise<void> {
    return this.fs.writeFile(this.path, data, options);
  }
  appendFile(data: unknown): Promise<void> {
    return this.fs.appendFile(this.path, data);
  }
  stat(): Promise<Stats> {
    return this.fs.stat(this.path);
  }
  truncate(size = 0): Promise<void> {
    return this.fs.truncate(this.path, size);
  }
  async sync(): Promise<void> {}
  async close(): Promise<void> {}
  async [Symbol.for("Symbol.asyncDispose")](): Promise<void> {}
}
