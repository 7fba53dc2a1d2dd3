// What QuickJS and its extensions provide before the prelude runs. Only the prelude may use these.
declare class TextEncoder {
  encode(text?: string): Uint8Array;
}
declare class TextDecoder {
  constructor(label?: string, options?: { fatal?: boolean });
  decode(bytes?: Uint8Array | ArrayBuffer, options?: { stream?: boolean }): string;
}
declare class Headers {
  constructor(init?: unknown);
  append(name: string, value: string): void;
  get(name: string): string | null;
  set(name: string, value: string): void;
  has(name: string): boolean;
  delete(name: string): void;
  forEach(fn: (value: string, name: string) => void): void;
}
declare class URLSearchParams {
  constructor(init?: unknown);
  toString(): string;
}
declare class URL {
  constructor(url: string, base?: string);
  href: string;
  protocol: string;
  pathname: string;
  hostname: string;
}
declare class DOMException extends Error {
  constructor(message?: string, name?: string);
}
declare function btoa(text: string): string;
declare function atob(text: string): string;
declare function queueMicrotask(fn: () => void): void;
declare const crypto: any;
declare const performance: any;
declare function structuredClone(value: unknown): unknown;
