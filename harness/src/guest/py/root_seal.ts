// Keeps a program from writing to the interpreter's own files. They lie in the memory of the run: what was written there would
// be gone with it, without a word. Between runs the seal is open, because the capsule's files are put there.


import { ERRNO } from "./linux_errno";

export interface Seal {
  closed: boolean;
}

type Operations = Record<string, ((...args: unknown[]) => unknown) | undefined>;

interface SealableFs {
  lookupPath(path: string): { node: { node_ops: Operations; stream_ops: Operations } };
  writeFile(path: string, data: Uint8Array): void;
  unlink(path: string): void;
  ErrnoError: new (errno: number) => Error;
}

/** `folder` is some folder of the file system in memory, which all of its files share their operations with. */
export function sealRoot(fs: unknown, folder: string): Seal {
  const { lookupPath, writeFile, unlink, ErrnoError } = fs as SealableFs;
  const seal = { closed: false };
  const guard = (operations: Operations, names: string[]) => {
    for (const name of names) {
      const original = operations[name];
      if (!original) continue;
      operations[name] = (...args) => {
        if (seal.closed) throw new ErrnoError(ERRNO.EROFS[0]);
        return original(...args);
      };
    }
  };
  const sample = `${folder}/.sample`;
  writeFile(sample, new Uint8Array(0));
  const directory = lookupPath(folder).node, file = lookupPath(sample).node;
  guard(directory.node_ops, ["mknod", "rename", "unlink", "rmdir", "symlink", "setattr"]);
  guard(file.node_ops, ["setattr"]);
  guard(file.stream_ops, ["write", "allocate"]);
  unlink(sample);
  return seal;
}
