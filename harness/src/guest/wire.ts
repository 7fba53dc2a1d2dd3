// The run socket as the guest sees it: frame kinds, the header shapes, and the door (`Channel`) through which everything
// leaves. Nothing in src/guest knows what is behind the door: the zygote's V8 host, a browser worker, or a test.

export const Kind = {
  start: 1,
  reply: 2,
  event: 3,
  interrupt: 4,
  ready: 16,
  output: 17,
  call: 18,
  cancel: 19,
  done: 20,
  pace: 21,
} as const;

export interface Frame {
  kind: number;
  header: string;
  body: Uint8Array;
}

/** What a guest may ask of the world around it. Every call is synchronous: a guest that waits, waits here. */
export interface Channel {
  send(kind: number, header: string, body?: Uint8Array): void;
  /** -1 waits for ever, 0 polls. Null means the time is over; a closed socket throws. */
  receive(timeoutMs: number): Frame | null;
  now(): number;
  wallClock(): number;
  random(bytes: number): Uint8Array;
  cpuMs(): number;
  /** Resident growth of this child, where the host can tell. */
  memPeakMb?(): number;
  sha256(bytes: Uint8Array): string;
  /** A moment's sleep that makes the next waking cheap, where the host knows how. */
  rest?(): void;
  /** Checks the JWS over the exact text of a manifest: why it is refused, or "". The key is SPKI DER in base64. */
  verifyManifest(manifest: string, jws: string, key: string): string;
}

export interface LayerHeader {
  id: string;
  bytes: number;
  format?: "zip" | "raw";
  path?: string;
  /** Not sent: this child got it with an earlier start. */
  held?: boolean;
}

export interface StartHeader {
  run?: string;
  manifest: string;
  sig: string;
  key: string;
  layers: LayerHeader[];
  stdinBytes?: number;
  /** Further input is asked for with op `input` once the given bytes are used up. */
  stdinLive?: boolean;
  /** Set when the child serves a named session: declarations must survive and may be repeated. */
  session?: string | boolean;
  /** Forget the variables of earlier runs before this one. */
  reset?: boolean;
  servers?: unknown[];
  /** Load the packages that the program imports and do nothing else: the program itself comes with the next start. */
  prepare?: boolean;
}

export interface WireError {
  type: string;
  message: string;
  errno?: string;
  stack?: string;
}

export interface ReplyHeader {
  id: number;
  ok: boolean;
  result?: unknown;
  error?: WireError;
}

/** How a run ended, in the words of the `done` frame. */
export interface Outcome {
  exitCode: number;
  /** JSON text, already bounded: it is spliced into the header as it is. */
  valueJson?: string;
  valueText?: string;
  error?: WireError;
  memPeakBytes: number;
  /** The engine is in a state that no later run may trust. */
  poisoned?: boolean;
}

/** Bounds of what a guest sends. Relay has its own, smaller or equal; these keep honest programs inside them. */
export const Limits = {
  outputFrameBytes: 64 * 1024,
  callBodyBytes: 8 * 1024 * 1024,
  callHeaderBytes: 6 * 1024 * 1024,
  valueBytes: 4 * 1024 * 1024,
  valueTextBytes: 64 * 1024,
  valueDepth: 56,
  errorBytes: 2048,
  layerEntries: 20_000,
  layerBytes: 256 * 1024 * 1024,
  pathBytes: 4096,
  eagerFlushes: 64,
  eagerFlushesPerMs: 0.2,
  /** A wait that is longer is told to relay, which lets other runs compute meanwhile. */
  briefWaitMs: 10,
} as const;
