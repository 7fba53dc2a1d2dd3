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
    if (!victim) return false;
    try {
      process.kill(victim.pid, 'SIGKILL');
    } catch {
      return false;  // it ended by itself
    }
    this.last = Date.now();
    this.kills[zygotes.includes(victim) ? 'zygote' : 'child'] += 1;
    return true;
  }

  start(root, { times, withinMs }) {
    const loop = async () => {
      for (let struck = 0; struck < times && !this.#stopped;) {
        await sleep((Math.random() * 2 * withinMs) / times);
        if (!this.#stopped && this.strike(root)) struck += 1;
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
