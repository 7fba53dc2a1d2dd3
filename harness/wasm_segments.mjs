// The URL extension places its second data segment at `__memory_base + N`, which needs WebAssembly's extended constant
// expressions; V8 10.2 lacks them. Both segments are placed relative to the same base into zeroed memory, so one segment
// with the gap filled by zeros means the same and needs only `__memory_base`.

const DATA = 11;
const DATA_COUNT = 12;
const OP = { globalGet: 0x23, const: 0x41, add: 0x6a, end: 0x0b };

class Reader {
  constructor(bytes, at = 0) {
    this.bytes = bytes;
    this.at = at;
  }
  unsigned() {
    let value = 0;
    for (let shift = 0; ; shift += 7) {
      const byte = this.bytes[this.at++];
      value += (byte & 127) * 2 ** shift;
      if (byte < 128) return value;
    }
  }
  byte() {
    return this.bytes[this.at++];
  }
  take(count) {
    const part = this.bytes.subarray(this.at, this.at + count);
    this.at += count;
    return part;
  }
}

function leb(value) {
  const out = [];
  do {
    const low = value & 127;
    value = Math.floor(value / 128);
    out.push(value ? low | 128 : low);
  } while (value);
  return out;
}

/** `global.get G [i32.const N i32.add] end` as {global, offset}. */
function placement(reader) {
  if (reader.byte() !== OP.globalGet) throw new Error("a data segment is not placed by a global");
  const global = reader.unsigned();
  let op = reader.byte();
  if (op === OP.end) return { global, offset: 0 };
  if (op !== OP.const) throw new Error("a data segment has an unknown placement");
  const offset = reader.unsigned();
  if (reader.byte() !== OP.add || reader.byte() !== OP.end) throw new Error("a data segment has an unknown placement");
  return { global, offset };
}

function segments(section) {
  const reader = new Reader(section);
  const count = reader.unsigned();
  return Array.from({ length: count }, () => {
    if (reader.unsigned() !== 0) throw new Error("a data segment is passive");
    const place = placement(reader);
    return { ...place, bytes: reader.take(reader.unsigned()) };
  });
}

function merged(section) {
  const parts = segments(section);
  const { global } = parts[0];
  if (parts.some((part) => part.global !== global)) throw new Error("data segments have different bases");
  const size = Math.max(...parts.map((part) => part.offset + part.bytes.length));
  const all = new Uint8Array(size);
  for (const { offset, bytes } of parts) all.set(bytes, offset);
  return Uint8Array.from([1, 0, OP.globalGet, ...leb(global), OP.end, ...leb(size), ...all]);
}

export function mergeDataSegments(module) {
  const reader = new Reader(module, 8);
  const out = [module.subarray(0, 8)];
  while (reader.at < module.length) {
    const id = reader.byte();
    let body = reader.take(reader.unsigned());
    if (id === DATA) body = merged(body);
    if (id === DATA_COUNT) body = Uint8Array.from([1]);
    out.push(Uint8Array.from([id, ...leb(body.length)]), body);
  }
  return Buffer.concat(out);
}
