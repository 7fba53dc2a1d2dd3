// The few functions the harness hands to the prelude. They live in closures, never on a global.
export interface Bridge {
  write(fd: number, data: string | Uint8Array): void;
  start(op: string, args: string, body?: Uint8Array): number;
  sync(op: string, args: string, body?: Uint8Array): string;
  takeBody(): Uint8Array | undefined;
  cancel(id: number): void;
  close(id: number): void;
  setTimer(id: number, ms: number, keepsAlive: boolean): void;
  clearTimer(id: number): void;
  now(): number;
  random(bytes: number): Uint8Array;
  stdin(limit: number): Uint8Array;
  exit(code: number): void;
  sleep(ms: number): void;
  resolve(base: string, specifier: string): string;
  source(path: string): string;
  /** One of digestNames(), or with a key its HMAC. */
  digest(algorithm: string, data: Uint8Array, key?: Uint8Array): Uint8Array;
  digestNames(): string;
  /** A question to the Intl of the engine around this one, and its answer, both JSON. */
  intl(question: string): string;
  /** A stack trace with the frames of bundled packages said as places in their sources, when there is a map. */
  mapFrames(stack: string): string;
}

export interface RunConfig {
  argv: string[];
  env: Record<string, string>;
  cwd: string;
  entry: string;
  servers: unknown[];
  versions: Record<string, string>;
  /** When the run began, on both clocks. */
  now: number;
  wallClock: number;
}

let current: Bridge;
export function connect(bridge: Bridge): void {
  current = bridge;
}
export function host(): Bridge {
  return current;
}
