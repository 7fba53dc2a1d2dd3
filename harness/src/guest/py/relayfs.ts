// An Emscripten file system whose nodes are paths and whose operations are relay's fs.* requests. Nothing is cached but the
// last stat, nothing is copied whole: a read asks for exactly the range that Python wants.

import type { Calls } from "../calls";
import type { WireError } from "../wire";
import { ERRNO, type ErrnoName } from "./linux_errno";

const DIR = 0o040000, FILE = 0o100000, LINK = 0o120000;
const WRITE_CHUNK = 4 * 1024 * 1024;
const READ_CHUNK = 4 * 1024 * 1024;
const O_APPEND = 0o2000;

export interface Stat {
  type: "file" | "dir" | "link";
  size: number;
  mtimeMs?: number;
  mode?: number;
}

interface Node {
  name: string;
  parent: Node;
  mode: number;
  mount: { mountpoint: string };
  node_ops: object;
  stream_ops: object;
  relaySize?: number;
}

interface Stream {
  node: Node;
  position: number;
  flags: number;
}

/** The parts of Emscripten's FS that a file system needs. */
export interface EmscriptenFs {
  createNode(parent: Node | null, name: string, mode: number, dev: number): Node;
  ErrnoError: new (errno: number) => Error;
  mkdirTree(path: string): void;
  destroyNode(node: Node): void;
  mount(type: object, options: object, mountpoint: string): unknown;
  writeFile(path: string, data: Uint8Array): void;
}

export class RelayFs {
  private calls: Calls | undefined;
  constructor(private readonly fs: EmscriptenFs) {}

  /** The run whose socket carries the requests; without one, every operation fails with EIO. */
  use(calls: Calls | undefined): void {
    this.calls = calls;
  }

  mountAt(path: string): void {
    this.fs.mkdirTree(path);
    this.fs.mount(this.type(), {}, path);
  }

  private type(): object {
    return { mount: () => this.make(null, "/", DIR | 0o755) };
  }

  private make(parent: Node | null, name: string, mode: number): Node {
    const node = this.fs.createNode(parent, name, mode, 0);
    node.node_ops = this.nodeOps();
    node.stream_ops = this.streamOps();
    return node;
  }

  private path(node: Node): string {
    const parts: string[] = [];
    let at = node;
    for (; at.parent !== at; at = at.parent) parts.push(at.name);
    return [node.mount.mountpoint, ...parts.reverse()].join("/");
  }

  private request(op: string, args: object, body?: Uint8Array): { result: any; body: Uint8Array } {
    if (!this.calls) throw new this.fs.ErrnoError(ERRNO.EIO[0]);
    const reply = this.calls.sync(op, JSON.stringify(args), body);
    const header = JSON.parse(reply.header) as { ok: boolean; result?: unknown; error?: WireError };
    if (!header.ok) throw new this.fs.ErrnoError(errnoOf(header.error));
    return { result: header.result, body: reply.body };
  }

  private nodeOps(): object {
    return {
      getattr: (node: Node) => this.attributesOf(node),
      setattr: (node: Node, change: { size?: number }) => {
        if (change.size !== undefined) this.request("fs.truncate", { path: this.path(node), size: change.size });
      },
      lookup: (parent: Node, name: string) => {
        const stat = this.request("fs.stat", { path: `${this.path(parent)}/${name}` }).result as Stat;
        return this.make(parent, name, modeOf(stat));
      },
      mknod: (parent: Node, name: string, mode: number) => this.create(parent, name, mode),
      rename: (node: Node, folder: Node, name: string) => {
        this.request("fs.rename", { from: this.path(node), to: `${this.path(folder)}/${name}` });
        node.name = name;
      },
      unlink: (parent: Node, name: string) => void this.request("fs.remove", { path: `${this.path(parent)}/${name}`, recursive: false }),
      rmdir: (parent: Node, name: string) => void this.request("fs.remove", { path: `${this.path(parent)}/${name}`, recursive: false }),
      readdir: (node: Node) => {
        const { entries } = this.request("fs.list", { path: this.path(node) }).result as { entries: { name: string }[] };
        return [".", "..", ...entries.map((entry) => entry.name)];
      },
      symlink: () => {
        throw new this.fs.ErrnoError(ERRNO.EPERM[0]);
      },
      readlink: () => {
        throw new this.fs.ErrnoError(ERRNO.EINVAL[0]);
      },
    };
  }

  /** What somebody else has removed is forgotten here, too: Emscripten would go on finding it under its name. */
  private attributesOf(node: Node): object {
    try {
      return attributes(node, this.request("fs.stat", { path: this.path(node) }).result as Stat);
    } catch (error) {
      if ((error as { errno?: number }).errno === ERRNO.ENOENT[0] && node.parent !== node) this.fs.destroyNode(node);
      throw error;
    }
  }

  private create(parent: Node, name: string, mode: number): Node {
    const path = `${this.path(parent)}/${name}`;
    if ((mode & 0o170000) === DIR) this.request("fs.mkdir", { path, recursive: false });
    else this.request("fs.write", { path, mode: "create", exclusive: true }, new Uint8Array(0));
    return this.make(parent, name, mode);
  }

  private streamOps(): object {
    return {
      open: () => {},
      close: () => {},
      fsync: () => 0,
      read: (stream: Stream, buffer: Int8Array, offset: number, length: number, position: number) => {
        const args = { path: this.path(stream.node), offset: position, length: Math.min(length, READ_CHUNK) };
        const { body } = this.request("fs.read", args);
        new Uint8Array(buffer.buffer, buffer.byteOffset, buffer.byteLength).set(body, offset);
        return body.length;
      },
      write: (stream: Stream, buffer: Int8Array, offset: number, length: number, position: number) => {
        const count = Math.min(length, WRITE_CHUNK);
        const bytes = new Uint8Array(buffer.buffer, buffer.byteOffset + offset, count).slice();
        const path = this.path(stream.node);
        const args = stream.flags & O_APPEND ? { path, mode: "append" } : { path, mode: "at", offset: position };
        this.request("fs.write", args, bytes);
        return count;
      },
      llseek: (stream: Stream, offset: number, whence: number) => {
        const size = () => (this.request("fs.stat", { path: this.path(stream.node) }).result as Stat).size;
        const position = whence === 1 ? stream.position + offset : whence === 2 ? size() + offset : offset;
        if (position < 0) throw new this.fs.ErrnoError(ERRNO.EINVAL[0]);
        return position;
      },
    };
  }
}

function errnoOf(error: WireError | undefined): number {
  return ERRNO[error?.errno as ErrnoName]?.[0] ?? (error?.type === "PolicyDenied" ? ERRNO.EACCES[0] : ERRNO.EIO[0]);
}

function modeOf(stat: Stat): number {
  const kind = stat.type === "dir" ? DIR : stat.type === "link" ? LINK : FILE;
  return kind | ((stat.mode ?? (stat.type === "dir" ? 0o755 : 0o644)) & 0o7777);
}

function attributes(node: Node & { id?: number }, stat: Stat): object {
  const when = new Date(stat.mtimeMs ?? 0);
  node.mode = modeOf(stat);
  return {
    dev: 1, ino: node.id ?? 0, mode: node.mode, nlink: 1, uid: 0, gid: 0, rdev: 0, size: stat.size,
    atime: when, mtime: when, ctime: when, blksize: 262144, blocks: Math.ceil(stat.size / 512),
  };
}
