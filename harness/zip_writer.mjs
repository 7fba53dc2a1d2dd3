// Makes small zip archives: for the practice of zygotes, and for tests, hostile names included.

import { deflateRawSync, crc32 } from "node:zlib";

export function zipOf(files) {
  const locals = [], centrals = [];
  let at = 0;
  for (const [name, text] of Object.entries(files)) {
    const data = Buffer.from(text), raw = Buffer.from(name);
    const packed = data.length > 100 ? deflateRawSync(data) : data;
    const head = Buffer.alloc(30);
    head.writeUInt32LE(0x04034b50, 0);
    head.writeUInt16LE(packed === data ? 0 : 8, 8);
    head.writeUInt32LE(crc32?.(data) ?? 0, 14);
    head.writeUInt32LE(packed.length, 18);
    head.writeUInt32LE(data.length, 22);
    head.writeUInt16LE(raw.length, 26);
    const central = Buffer.alloc(46);
    central.writeUInt32LE(0x02014b50, 0);
    head.copy(central, 10, 8, 30);
    central.writeUInt32LE(at, 42);
    locals.push(head, raw, packed);
    centrals.push(central, raw);
    at += 30 + raw.length + packed.length;
  }
  const directory = Buffer.concat(centrals);
  const end = Buffer.alloc(22);
  end.writeUInt32LE(0x06054b50, 0);
  end.writeUInt16LE(Object.keys(files).length, 8);
  end.writeUInt16LE(Object.keys(files).length, 10);
  end.writeUInt32LE(directory.length, 12);
  end.writeUInt32LE(at, 16);
  return new Uint8Array(Buffer.concat([...locals, directory, end]));
}
