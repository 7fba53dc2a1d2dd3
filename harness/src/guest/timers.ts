// The run loop's clock work: which timer is due next. Ids belong to the guest; order is by time, then by arrival.

interface Timer {
  id: number;
  due: number;
  order: number;
  keepsAlive: boolean;
}

export class Timers {
  private readonly sorted: Timer[] = [];
  private readonly byId = new Map<number, Timer>();
  private order = 0;
  private alive = 0;

  set(id: number, due: number, keepsAlive: boolean): void {
    this.clear(id);
    const timer = { id, due, order: this.order++, keepsAlive };
    let low = 0, high = this.sorted.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (this.sorted[middle]!.due <= due) low = middle + 1;
      else high = middle;
    }
    this.sorted.splice(low, 0, timer);
    this.byId.set(id, timer);
    if (keepsAlive) this.alive++;
  }

  clear(id: number): void {
    const timer = this.byId.get(id);
    if (!timer) return;
    this.byId.delete(id);
    this.sorted.splice(this.sorted.indexOf(timer), 1);
    if (timer.keepsAlive) this.alive--;
  }

  /** The id of a timer that is due, taken out. */
  take(now: number): number | undefined {
    const first = this.sorted[0];
    if (!first || first.due > now) return undefined;
    this.clear(first.id);
    return first.id;
  }

  /** Milliseconds to the next timer, or -1 when there is none. */
  wait(now: number): number {
    const first = this.sorted[0];
    return first ? Math.max(0, Math.ceil(first.due - now)) : -1;
  }

  get keepAlive(): boolean {
    return this.alive > 0;
  }

  reset(): void {
    this.sorted.length = 0;
    this.byId.clear();
    this.alive = 0;
  }
}
