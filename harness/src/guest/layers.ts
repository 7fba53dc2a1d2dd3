// The files a capsule brings along, as a read-only tree that is looked at before the wire: reading one costs no message.

import { readZip } from "./zip";
import type { Layer } from "./capsule";

export interface LayerFile {
  size: number;
  read(): Uint8Array;
}

/** These belong to relay's tree; a layer that brings them could hide the real ones. */
const RESERVED = new Set(["tmp", "out", "host", "mcps"]);

export function normalizePath(path: string, base = "/"): string {
  const parts: string[] = [];
  for (const part of (path.startsWith("/") ? path : `${base}/${path}`).split("/")) {
    if (part === "" || part === ".") continue;
    if (part === "..") parts.pop();
    else parts.push(part);
  }
  return "/" + parts.join("/");
}

export class LayerTree {
  private readonly files = new Map<string, LayerFile>();
  private readonly folders = new Map<string, Set<string>>();

  static from(layers: Layer[]): LayerTree {
    const tree = new LayerTree();
    for (const layer of layers) tree.add(layer);
    return tree;
  }

  add(layer: Layer): void {
    if (layer.format === "raw") {
      const path = normalizePath(layer.path ?? layer.mount ?? "/app/main");
      this.put(path, { size: layer.bytes.length, read: () => layer.bytes });
      return;
    }
    for (const { name, file } of filesIn(layer.bytes)) {
      const path = normalizePath(name, layer.mount ?? "/");
      if (file) this.put(path, file);
      else this.folder(path);
    }
  }

  file(path: string): LayerFile | undefined {
    return this.files.get(path);
  }

  names(path: string): string[] | undefined {
    const set = this.folders.get(path);
    return set && [...set];
  }

  isFolder(path: string): boolean {
    return path !== "/" && this.folders.has(path);
  }

  paths(): string[] {
    return [...this.files.keys()];
  }

  /** The topmost folders that layers occupy: writing below them is refused, reading them never asks relay. */
  owns(path: string): boolean {
    const top = "/" + (path.split("/")[1] ?? "");
    return top !== "/" && this.folders.has(top);
  }

  private put(path: string, file: LayerFile): void {
    if (RESERVED.has(path.split("/")[1] ?? "")) throw new Error(`layer may not bring ${path}`);
    this.files.set(path, file);
    const cut = path.lastIndexOf("/");
    this.folder(path.slice(0, cut) || "/").add(path.slice(cut + 1));
  }

  private folder(path: string): Set<string> {
    const known = this.folders.get(path);
    if (known) return known;
    const made = new Set<string>();
    this.folders.set(path, made);
    const cut = path.lastIndexOf("/");
    if (path !== "/") this.folder(path.slice(0, cut) || "/").add(path.slice(cut + 1));
    return made;
  }
}

/** By the archive's bytes: one that a child has held since its last start is not read again. */
const known = new WeakMap<Uint8Array, { name: string; file?: LayerFile }[]>();

function filesIn(archive: Uint8Array): { name: string; file?: LayerFile }[] {
  let files = known.get(archive);
  if (!files) {
    files = readZip(archive).map(({ name, directory, size, read }) => ({ name, file: directory ? undefined : { size, read: once(read) } }));
    known.set(archive, files);
  }
  return files;
}

function once(read: () => Uint8Array): () => Uint8Array {
  let kept: Uint8Array | undefined;
  return () => (kept ??= read());
}
