// stdout and stderr on their way out. Bytes are gathered into frames of at most 64 KiB. A line leaves at once as long as
// the program prints at a human pace; a flood is coalesced, and whatever is held leaves before the guest waits or ends.

import { Kind, Limits, type Channel } from "./wire";

export type StreamName = "stdout" | "stderr";

/** Most programs print little; a small buffer is a page that a forked child need not touch. */
const FIRST_BYTES = 2048;

export class Output {
  private stream: StreamName = "stdout";
  private held = new Uint8Array(FIRST_BYTES);
  private used = 0;
  private eager: number = Limits.eagerFlushes;
  private refilled: number;

  constructor(private readonly channel: Channel) {
    this.refilled = channel.now();
  }

  /** Keeps the order in which the two streams were written. */
  write(stream: StreamName, bytes: Uint8Array): void {
    if (stream !== this.stream) this.flush();
    this.stream = stream;
    let at = 0;
    while (at < bytes.length) {
      this.makeRoom(bytes.length - at);
      const part = bytes.subarray(at, at + this.held.length - this.used);
      this.held.set(part, this.used);
      this.used += part.length;
      at += part.length;
      if (this.used === this.held.length) this.flush();
    }
    if (this.used > 0 && this.held[this.used - 1] === 10 && this.mayBeEager()) this.flush();
  }

  private makeRoom(wanted: number): void {
    if (this.used + wanted <= this.held.length || this.held.length === Limits.outputFrameBytes) return;
    const larger = new Uint8Array(Limits.outputFrameBytes);
    larger.set(this.held.subarray(0, this.used));
    this.held = larger;
  }

  flush(): void {
    if (this.used === 0) return;
    const body = this.held.slice(0, this.used);
    this.used = 0;
    this.channel.send(Kind.output, `{"stream":"${this.stream}"}`, body);
  }

  private mayBeEager(): boolean {
    if (this.eager < 1) {
      const now = this.channel.now();
      this.eager = Math.min(Limits.eagerFlushes, (now - this.refilled) * Limits.eagerFlushesPerMs);
      this.refilled = now;
    }
    if (this.eager < 1) return false;
    this.eager--;
    return true;
  }
}
