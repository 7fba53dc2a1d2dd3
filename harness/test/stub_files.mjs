// A file tree in memory with relay's fs.* operations and errno names: /tmp and /out are writable, /host/project is not.

const fail = (errno, message) => {
  throw Object.assign(new Error(message), { errno, type: "FileError" });
};
const parentOf = (path) => path.slice(0, path.lastIndexOf("/")) || "/";

export class StubFiles {
  constructor() {
    this.nodes = new Map(["/", "/tmp", "/out", "/host", "/host/project", "/mcps"].map((path) => [path, { dir: true }]));
    this.nodes.set("/host/project/readme.txt", { data: Buffer.from("hello from the host\nsecond line\n") });
    this.nodes.set("/host/project/big.bin", { data: Buffer.alloc(1 << 20, 7) });
    this.reads = [];
    this.handlers = {
      "fs.stat": ({ path }) => ({ result: this.stat(path) }),
      "fs.list": ({ path }) => ({ result: this.list(path) }),
      "fs.read": (args) => this.read(args),
      "fs.write": (args, body) => this.write(args, body),
      "fs.truncate": ({ path, size }) => this.truncate(path, size),
      "fs.mkdir": ({ path, recursive }) => this.mkdir(path, recursive),
      "fs.remove": ({ path, recursive }) => this.remove(path, recursive),
      "fs.rename": ({ from, to }) => this.rename(from, to),
    };
  }

  get(path) {
    const node = this.nodes.get(path);
    if (node) return node;
    for (let up = parentOf(path); up !== "/"; up = parentOf(up)) if (this.nodes.get(up)?.data) fail("ENOTDIR", "not a directory");
    return fail("ENOENT", "no such file or directory");
  }

  writable(path) {
    if (path.startsWith("/host/")) fail("EROFS", "read-only file system");
    if (!/^\/(tmp|out)\//.test(path)) fail("EACCES", "permission denied");
    if (!this.get(parentOf(path)).dir) fail("ENOTDIR", "not a directory");
  }

  stat(path) {
    const node = this.get(path);
    return { type: node.dir ? "dir" : "file", size: node.data?.length ?? 0, mtimeMs: 1700000000000, mode: node.dir ? 0o755 : 0o644 };
  }

  list(path) {
    if (!this.get(path).dir) fail("ENOTDIR", "not a directory");
    const prefix = path === "/" ? "/" : path + "/";
    const names = [...this.nodes.keys()].filter((key) => key !== path && key.startsWith(prefix) && !key.slice(prefix.length).includes("/") && key !== "/");
    return { entries: names.sort().map((key) => ({ name: key.slice(prefix.length), type: this.nodes.get(key).dir ? "dir" : "file", size: this.nodes.get(key).data?.length ?? 0 })) };
  }

  read({ path, offset = 0, length = Infinity }) {
    const node = this.get(path);
    if (node.dir) fail("EISDIR", "illegal operation on a directory");
    this.reads.push({ path, offset, length });
    const end = Math.min(node.data.length, offset + length);
    return { result: { size: node.data.length, eof: end >= node.data.length }, body: node.data.subarray(offset, end) };
  }

  write({ path, mode, offset = 0, exclusive }, body) {
    this.writable(path);
    const node = this.nodes.get(path);
    if (node?.dir) fail("EISDIR", "is a directory");
    if (node && (exclusive || (mode === "create" && exclusive !== false))) fail("EEXIST", "file already exists");
    const old = node?.data ?? Buffer.alloc(0);
    if (mode === "append") this.nodes.set(path, { data: Buffer.concat([old, body]) });
    else if (mode === "at") {
      const data = Buffer.alloc(Math.max(old.length, offset + body.length));
      old.copy(data);
      body.copy(data, offset);
      this.nodes.set(path, { data });
    } else this.nodes.set(path, { data: Buffer.from(body) });
    return { result: { bytesWritten: body.length } };
  }

  truncate(path, size) {
    this.writable(path);
    const data = Buffer.alloc(size);
    this.get(path).data.copy(data);
    this.nodes.set(path, { data });
  }

  mkdir(path, recursive) {
    if (this.nodes.get(path)) return recursive && this.nodes.get(path).dir ? {} : fail("EEXIST", "file already exists");
    if (recursive && !this.nodes.get(parentOf(path))) this.mkdir(parentOf(path), true);
    this.writable(path);
    this.nodes.set(path, { dir: true });
    return {};
  }

  remove(path, recursive) {
    const node = this.get(path);
    this.writable(path);
    const inside = [...this.nodes.keys()].filter((key) => key.startsWith(path + "/"));
    if (node.dir && inside.length && !recursive) fail("ENOTEMPTY", "directory not empty");
    for (const key of [path, ...inside]) this.nodes.delete(key);
  }

  rename(from, to) {
    const node = this.get(from);
    this.writable(from);
    this.writable(to);
    this.nodes.delete(from);
    this.nodes.set(to, node);
  }
}
