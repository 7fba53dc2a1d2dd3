// Reads the zip archives that carry a capsule's layers. The archive's hash was checked before, so this is the second
// wall: counts, sizes and paths are bounded, nothing is unpacked until somebody reads it.

import { decodeUtf8 } from "./text";
import { inflateRaw } from "./inflate";
import { Limits } from "./wire";

export interface ZipEntry {
  name: string;
  size: number;
  directory: boolean;
  read(): Uint8Array;
}

const END_RECORD = 0x06054b50;
const CENTRAL_RECORD = 0x02014b50;
const LOCAL_RECORD = 0x04034b50;

function findEnd(view: DataView): number {
  const floor = Math.max(0, view.byteLength - 22 - 0xffff);
  for (let at = view.byteLength - 22; at >= floor; at--) if (view.getUint32(at, true) === END_RECORD) return at;
  throw new Error("layer is not a zip archive");
}

/** A relative path of plain components, or an error: no root, no drive, no `..`, no NUL. */
export function checkedPath(name: string): string {
  if (name.length > Limits.pathBytes) throw new Error("layer has an over-long path");
  if (name.startsWith("/") || name.includes("\\") || name.includes("\0")) throw new Error(`layer has a bad path: ${name}`);
  const parts = name.split("/").filter((part) => part !== "" && part !== ".");
  if (parts.includes("..")) throw new Error(`layer path leaves its root: ${name}`);
  return parts.join("/");
}

function entryAt(bytes: Uint8Array, view: DataView, at: number): { entry: ZipEntry; next: number } {
  if (view.getUint32(at, true) !== CENTRAL_RECORD) throw new Error("layer has a broken directory");
  const flags = view.getUint16(at + 8, true);
  const method = view.getUint16(at + 10, true);
  const packed = view.getUint32(at + 20, true);
  const size = view.getUint32(at + 24, true);
  const nameLength = view.getUint16(at + 28, true);
  const next = at + 46 + nameLength + view.getUint16(at + 30, true) + view.getUint16(at + 32, true);
  const local = view.getUint32(at + 42, true);
  const raw = decodeUtf8(bytes.subarray(at + 46, at + 46 + nameLength));
  const type = view.getUint32(at + 38, true) >>> 28;
  if (flags & 1) throw new Error(`layer entry is encrypted: ${raw}`);
  if (type === 0xa) throw new Error(`layer entry is a symbolic link: ${raw}`);
  if (method !== 0 && method !== 8) throw new Error(`layer entry uses an unknown method: ${raw}`);
  const read = () => unpack(bytes, view, { local, packed, size, method });
  return { entry: { name: checkedPath(raw), size, directory: raw.endsWith("/"), read }, next };
}

interface Packed {
  local: number;
  packed: number;
  size: number;
  method: number;
}

function unpack(bytes: Uint8Array, view: DataView, { local, packed, size, method }: Packed): Uint8Array {
  if (view.getUint32(local, true) !== LOCAL_RECORD) throw new Error("layer has a broken entry");
  const from = local + 30 + view.getUint16(local + 26, true) + view.getUint16(local + 28, true);
  if (from + packed > bytes.length) throw new Error("layer entry reaches beyond the archive");
  const data = bytes.subarray(from, from + packed);
  if (method === 8) return inflateRaw(data, size);
  if (packed !== size) throw new Error("layer entry has two sizes");
  return data;
}

export function readZip(bytes: Uint8Array): ZipEntry[] {
  if (bytes.length < 22) throw new Error("layer is not a zip archive");
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const end = findEnd(view);
  const count = view.getUint16(end + 10, true);
  if (count > Limits.layerEntries) throw new Error(`layer has too many entries (${count})`);
  const entries: ZipEntry[] = [];
  let total = 0;
  for (let i = 0, at = view.getUint32(end + 16, true); i < count; i++) {
    const { entry, next } = entryAt(bytes, view, at);
    total += entry.size;
    if (total > Limits.layerBytes) throw new Error("layer unpacks to too many bytes");
    entries.push(entry);
    at = next;
  }
  return entries;
}
