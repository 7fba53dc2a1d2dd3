// UTF-8 and base64 without any platform class: a bare V8 has neither TextEncoder nor atob.

const REPLACEMENT = 0xfffd;

export function utf8Length(text: string): number {
  let bytes = 0;
  for (let i = 0; i < text.length; i++) {
    const unit = text.charCodeAt(i);
    if (unit < 0x80) bytes += 1;
    else if (unit < 0x800) bytes += 2;
    else if (isPair(text, i)) (bytes += 4), i++;
    else bytes += 3;
  }
  return bytes;
}

function isPair(text: string, at: number): boolean {
  const high = text.charCodeAt(at);
  if (high < 0xd800 || high > 0xdbff || at + 1 >= text.length) return false;
  const low = text.charCodeAt(at + 1);
  return low >= 0xdc00 && low <= 0xdfff;
}

/** Writes as many whole characters as fit; returns code units read and bytes written. Lone surrogates become U+FFFD. */
export function encodeInto(text: string, out: Uint8Array): { read: number; written: number } {
  let at = 0;
  let i = 0;
  for (; i < text.length; i++) {
    let code = text.charCodeAt(i);
    if (code < 0x80) {
      if (at >= out.length) break;
      out[at++] = code;
      continue;
    }
    const pair = isPair(text, i);
    if (pair) code = ((code - 0xd800) << 10) + (text.charCodeAt(i + 1) - 0xdc00) + 0x10000;
    else if (code >= 0xd800 && code <= 0xdfff) code = REPLACEMENT;
    const need = code < 0x800 ? 2 : code < 0x10000 ? 3 : 4;
    if (at + need > out.length) break;
    at = putMultibyte(out, at, code, need);
    if (pair) i++;
  }
  return { read: i, written: at };
}

function putMultibyte(out: Uint8Array, at: number, code: number, need: number): number {
  if (need === 2) {
    out[at++] = 0xc0 | (code >> 6);
  } else if (need === 3) {
    out[at++] = 0xe0 | (code >> 12);
    out[at++] = 0x80 | ((code >> 6) & 0x3f);
  } else {
    out[at++] = 0xf0 | (code >> 18);
    out[at++] = 0x80 | ((code >> 12) & 0x3f);
    out[at++] = 0x80 | ((code >> 6) & 0x3f);
  }
  out[at++] = 0x80 | (code & 0x3f);
  return at;
}

export function encodeUtf8(text: string): Uint8Array {
  const out = new Uint8Array(utf8Length(text));
  encodeInto(text, out);
  return out;
}

const ESCAPE = /\\(?:u[dD][89abAB][\da-fA-F]{2}\\u[dD][c-fC-F][\da-fA-F]{2}|(u[dD][89a-fA-F][\da-fA-F]{2})|[^])/g;

/** JSON text whose escaped lone surrogates are U+FFFD. JSON can say them and UTF-8 cannot, so relay takes no text that has one.
 *  Those that are not escaped become U+FFFD where the text is encoded. */
export function wellFormedJson(json: string): string {
  if (!/\\u[dD][89a-fA-F]/.test(json)) return json;
  return json.replace(ESCAPE, (escape, lone) => (lone ? "\\ufffd" : escape));
}

/** Engines write a lone surrogate as three bytes that are no UTF-8 (ED A0..BF xx); U+FFFD has three bytes, too. In place. */
export function mendSurrogates(bytes: Uint8Array): Uint8Array {
  for (let at = bytes.indexOf(0xed); at >= 0 && at + 2 < bytes.length; at = bytes.indexOf(0xed, at + 1))
    if (bytes[at + 1]! >= 0xa0) (bytes[at] = 0xef), (bytes[at + 1] = 0xbf), (bytes[at + 2] = 0xbd);
  return bytes;
}

/** Decodes leniently: each maximal broken sequence becomes one U+FFFD, as the Encoding Standard says. */
export function decodeUtf8(bytes: Uint8Array, onError?: () => never): string {
  const parts: string[] = [];
  let units: number[] = [];
  let i = 0;
  while (i < bytes.length) {
    const lead = bytes[i]!;
    if (lead < 0x80) {
      units.push(lead);
      i++;
    } else {
      const [code, used] = decodeOne(bytes, i, lead);
      if (code < 0 && onError) onError();
      pushCode(units, code < 0 ? REPLACEMENT : code);
      i += used;
    }
    if (units.length >= 8192) {
      parts.push(String.fromCharCode.apply(null, units));
      units = [];
    }
  }
  parts.push(String.fromCharCode.apply(null, units));
  return parts.join("");
}

function pushCode(units: number[], code: number): void {
  if (code < 0x10000) {
    units.push(code);
    return;
  }
  const rest = code - 0x10000;
  units.push(0xd800 + (rest >> 10), 0xdc00 + (rest & 0x3ff));
}

/** The code point at `i`, or -1 with the length of the broken prefix. */
function decodeOne(bytes: Uint8Array, i: number, lead: number): [number, number] {
  let need: number, lower = 0x80, upper = 0xbf, code: number;
  if (lead >= 0xc2 && lead <= 0xdf) (need = 1), (code = lead & 0x1f);
  else if (lead >= 0xe0 && lead <= 0xef) {
    (need = 2), (code = lead & 0x0f);
    if (lead === 0xe0) lower = 0xa0;
    if (lead === 0xed) upper = 0x9f;
  } else if (lead >= 0xf0 && lead <= 0xf4) {
    (need = 3), (code = lead & 0x07);
    if (lead === 0xf0) lower = 0x90;
    if (lead === 0xf4) upper = 0x8f;
  } else return [-1, 1];
  for (let k = 1; k <= need; k++) {
    const byte = bytes[i + k];
    if (byte === undefined || byte < lower || byte > upper) return [-1, k];
    (lower = 0x80), (upper = 0xbf);
    code = (code << 6) | (byte & 0x3f);
  }
  return [code, need + 1];
}

const ALPHABET = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
export function encodeBase64(bytes: Uint8Array): string {
  let out = "";
  for (let i = 0; i < bytes.length; i += 3) {
    const left = bytes.length - i;
    const group = (bytes[i]! << 16) | ((bytes[i + 1] ?? 0) << 8) | (bytes[i + 2] ?? 0);
    out += ALPHABET[group >> 18]! + ALPHABET[(group >> 12) & 63]!;
    if (left > 1) out += ALPHABET[(group >> 6) & 63]!;
    if (left > 2) out += ALPHABET[group & 63]!;
    if (left < 3) out += left === 1 ? "==" : "=";
  }
  return out;
}

/** Cuts at a character boundary so that the UTF-8 form has at most `bytes` bytes, and says that it did. */
export function clip(text: string, bytes: number): string {
  if (text.length * 3 <= bytes || utf8Length(text) <= bytes) return text;
  const mark = "… [cut]";
  const room = new Uint8Array(bytes - 9);
  return text.slice(0, encodeInto(text, room).read) + mark;
}
