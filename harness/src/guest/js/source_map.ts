// The source map of the dependencies' bundle: from a line and column of the bundle to the file it was made from. Decoded
// when a stack trace asks for it, never before.

import { decodeUtf8 } from "../text";
import type { LayerTree } from "../layers";

export const BUNDLE_PATH = "/deps/bundle.mjs";
const FRAME = /\/deps\/bundle\.mjs:(\d+)(?::(\d+))?/g;
const DIGITS = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

interface Place {
  column: number;
  source: string;
  line: number;
  sourceColumn: number;
}

/** Base64 VLQ (ECMA-426): the numbers of one segment. */
export function decodeSegment(text: string): number[] {
  const numbers: number[] = [];
  let value = 0, shift = 0;
  for (const character of text) {
    const digit = DIGITS.indexOf(character);
    if (digit < 0) return [];
    value += (digit & 31) * 2 ** shift;
    shift += 5;
    if (digit & 32) continue;
    numbers.push(value & 1 ? -Math.floor(value / 2) : Math.floor(value / 2));
    value = shift = 0;
  }
  return numbers;
}

export class SourceMap {
  private readonly sources: string[];
  private readonly mappings: string;

  constructor(text: string) {
    const map = JSON.parse(text) as { sources?: string[]; mappings?: string };
    this.sources = map.sources ?? [];
    this.mappings = map.mappings ?? "";
  }

  static of(tree: LayerTree): SourceMap | undefined {
    const file = tree.file(`${BUNDLE_PATH}.map`);
    try {
      return file && new SourceMap(decodeUtf8(file.read()));
    } catch {
      return undefined;
    }
  }

  /** Frames of the bundle in a stack trace, said as places in its sources. */
  apply(stack: string): string {
    return stack.replace(FRAME, (frame, line: string, column?: string) => {
      const place = this.find(Number(line), Number(column ?? 1));
      return place ? `${place.source}:${place.line}:${place.sourceColumn}` : frame;
    });
  }

  /** Both count from 1. Fields of a segment are differences to the ones before, over the whole map. */
  find(line: number, column: number): Place | undefined {
    let source = 0, sourceLine = 0, sourceColumn = 0, found: Place | undefined;
    const lines = this.mappings.split(";", line);
    if (lines.length < line) return undefined;
    for (let at = 0; at < lines.length; at++) {
      let generated = 0;
      for (const text of lines[at] ? lines[at]!.split(",") : []) {
        const [step = 0, toSource, toLine = 0, toColumn = 0] = decodeSegment(text);
        generated += step;
        if (toSource === undefined) continue;
        source += toSource, sourceLine += toLine, sourceColumn += toColumn;
        if (at === line - 1 && (generated < column || !found))
          found = { column: generated, source: this.sources[source] ?? "?", line: sourceLine + 1, sourceColumn: sourceColumn + 1 };
      }
    }
    return found;
  }
}
