// The run's standard input: bytes that came with the start message, then, if relay offers more, what op `input` gives.

import type { Calls } from "./calls";

export class Stdin {
  private at = 0;
  private live: boolean;

  constructor(private bytes: Uint8Array, live: boolean, private readonly calls: Calls) {
    this.live = live;
  }

  /** At most `limit` bytes; empty means the end. Blocks only when there is nothing yet and more may come. */
  read(limit: number): Uint8Array {
    if (this.at >= this.bytes.length && this.live) this.refill();
    const part = this.bytes.subarray(this.at, this.at + limit);
    this.at += part.length;
    return part;
  }

  private refill(): void {
    const reply = this.calls.sync("input", "{}");
    const header = JSON.parse(reply.header) as { ok: boolean; result?: { eof?: boolean } };
    this.live = header.ok && header.result?.eof !== true;
    this.bytes = reply.body;
    this.at = 0;
  }
}
