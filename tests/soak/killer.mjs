// Kills zygotes and sandboxes at random moments, as the kernel's memory killer or an operator would.
import { setTimeout as sleep } from 'node:timers/promises';
import { descendants, zygotesOf } from '../processes.mjs';

export class Killer {
  kills = { zygote: 0, child: 0 };  // a zygote is two processes: either will do
  #stopped = false;

  // The last kill may explain a failed call for a moment after it.
  get recent() { return Date.now() - (this.last ?? 0) < 15_000; }

  strike(root) {
    const all = descendants(root).filter((one) => one.name.startsWith('relay-zygote') && one.state !== 'Z');
    const zygotes = zygotesOf(root, all);
    // As often one of the few zygotes as one of the many sandboxes.
    const kind = Math.random() < 0.5 ? zygotes : all.filter((one) => !zygotes.includes(one));
    const victim = kind[Math.floor(Math.random() * kind.length)];
    if (!victim) return;
    try {
      process.kill(victim.pid, 'SIGKILL');
      this.last = Date.now();
      this.kills[zygotes.includes(victim) ? 'zygote' : 'child'] += 1;
    } catch { /* it ended by itself */ }
  }

  start(root, { times, withinMs }) {
    const loop = async () => {
      for (let i = 0; i < times && !this.#stopped; ++i) {
        await sleep((Math.random() * 2 * withinMs) / times);
        if (!this.#stopped) this.strike(root);
      }
    };
    this.finished = loop();
    return this;
  }

  async stop() {
    this.#stopped = true;
    await this.finished;
  }
}
