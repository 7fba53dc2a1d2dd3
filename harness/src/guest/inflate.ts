// Raw DEFLATE (RFC 1951), bounded by the size the archive promised: a bomb ends at that size, not at the end of memory.

const LENGTH_BASE = [3, 4, 5, 6, 7, 8, 9, 10, 11, 13, 15, 17, 19, 23, 27, 31, 35, 43, 51, 59, 67, 83, 99, 115, 131, 163, 195, 227, 258];
const LENGTH_EXTRA = [0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2, 2, 3, 3, 3, 3, 4, 4, 4, 4, 5, 5, 5, 5, 0];
const DISTANCE_BASE = [1, 2, 3, 4, 5, 7, 9, 13, 17, 25, 33, 49, 65, 97, 129, 193, 257, 385, 513, 769, 1025, 1537, 2049, 3073, 4097, 6145, 8193, 12289, 16385, 24577];
const DISTANCE_EXTRA = [0, 0, 0, 0, 1, 1, 2, 2, 3, 3, 4, 4, 5, 5, 6, 6, 7, 7, 8, 8, 9, 9, 10, 10, 11, 11, 12, 12, 13, 13];
const CODE_ORDER = [16, 17, 18, 0, 8, 7, 9, 6, 10, 5, 11, 4, 12, 3, 13, 2, 14, 1, 15];

interface Huffman {
  counts: Uint16Array;
  symbols: Uint16Array;
}

class BitReader {
  private at = 0;
  private held = 0;
  private count = 0;
  constructor(private readonly bytes: Uint8Array) {}

  bits(need: number): number {
    while (this.count < need) {
      if (this.at >= this.bytes.length) throw new Error("deflate data ends early");
      this.held |= this.bytes[this.at++]! << this.count;
      this.count += 8;
    }
    const value = this.held & ((1 << need) - 1);
    this.held >>>= need;
    this.count -= need;
    return value;
  }

  symbol(table: Huffman): number {
    let code = 0, first = 0, index = 0;
    for (let length = 1; length <= 15; length++) {
      code |= this.bits(1);
      const count = table.counts[length]!;
      if (code - count < first) return table.symbols[index + (code - first)]!;
      index += count;
      first = (first + count) << 1;
      code <<= 1;
    }
    throw new Error("deflate data has a bad code");
  }

  stored(out: Uint8Array, at: number): number {
    this.held = this.count = 0;
    const length = this.bytes[this.at]! | (this.bytes[this.at + 1]! << 8);
    const from = this.at + 4;
    if (!(from + length <= this.bytes.length)) throw new Error("deflate data ends early");
    if (at + length > out.length) throw new Error("deflate data is longer than declared");
    out.set(this.bytes.subarray(from, from + length), at);
    this.at = from + length;
    return at + length;
  }
}

function huffman(lengths: ArrayLike<number>): Huffman {
  const counts = new Uint16Array(16);
  for (let i = 0; i < lengths.length; i++) counts[lengths[i]!]!++;
  counts[0] = 0;
  const offsets = new Uint16Array(16);
  for (let i = 1; i < 15; i++) offsets[i + 1] = offsets[i]! + counts[i]!;
  const symbols = new Uint16Array(lengths.length);
  for (let i = 0; i < lengths.length; i++) if (lengths[i]) symbols[offsets[lengths[i]!]!++] = i;
  return { counts, symbols };
}

function fixedTables(): [Huffman, Huffman] {
  const lengths = new Uint8Array(288).fill(8, 0, 144).fill(9, 144, 256).fill(7, 256, 280).fill(8, 280);
  return [huffman(lengths), huffman(new Uint8Array(30).fill(5))];
}

function dynamicTables(reader: BitReader): [Huffman, Huffman] {
  const literals = reader.bits(5) + 257, distances = reader.bits(5) + 1, codes = reader.bits(4) + 4;
  const codeLengths = new Uint8Array(19);
  for (let i = 0; i < codes; i++) codeLengths[CODE_ORDER[i]!] = reader.bits(3);
  const table = huffman(codeLengths);
  const lengths = new Uint8Array(literals + distances);
  for (let i = 0; i < lengths.length; ) {
    const symbol = reader.symbol(table);
    if (symbol < 16) {
      lengths[i++] = symbol;
      continue;
    }
    if (symbol === 16 && i === 0) throw new Error("deflate data repeats nothing");
    const value = symbol === 16 ? lengths[i - 1]! : 0;
    const times = symbol === 16 ? 3 + reader.bits(2) : symbol === 17 ? 3 + reader.bits(3) : 11 + reader.bits(7);
    if (i + times > lengths.length) throw new Error("deflate data has too many lengths");
    lengths.fill(value, i, i + times);
    i += times;
  }
  return [huffman(lengths.subarray(0, literals)), huffman(lengths.subarray(literals))];
}

function block(reader: BitReader, out: Uint8Array, start: number, [literal, distance]: [Huffman, Huffman]): number {
  let at = start;
  for (;;) {
    const symbol = reader.symbol(literal);
    if (symbol === 256) return at;
    if (symbol < 256) {
      if (at >= out.length) throw new Error("deflate data is longer than declared");
      out[at++] = symbol;
      continue;
    }
    if (symbol > 285) throw new Error("deflate data has a bad length");
    const length = LENGTH_BASE[symbol - 257]! + reader.bits(LENGTH_EXTRA[symbol - 257]!);
    const code = reader.symbol(distance);
    if (code > 29) throw new Error("deflate data has a bad distance");
    const back = DISTANCE_BASE[code]! + reader.bits(DISTANCE_EXTRA[code]!);
    if (back > at || at + length > out.length) throw new Error("deflate data points outside itself");
    for (let k = 0; k < length; k++, at++) out[at] = out[at - back]!;
  }
}

/** The `size` bytes that `bytes` unpacks to; any other number of them is an error. */
export function inflateRaw(bytes: Uint8Array, size: number): Uint8Array {
  const out = new Uint8Array(size);
  const reader = new BitReader(bytes);
  let at = 0;
  for (let last = 0; !last; ) {
    last = reader.bits(1);
    const type = reader.bits(2);
    if (type === 3) throw new Error("deflate data has a bad block type");
    at = type === 0 ? reader.stored(out, at) : block(reader, out, at, type === 1 ? fixedTables() : dynamicTables(reader));
  }
  if (at !== size) throw new Error("deflate data is shorter than declared");
  return out;
}
