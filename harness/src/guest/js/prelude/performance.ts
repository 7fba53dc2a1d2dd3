// performance: the clock since the run began.

import { host } from "./bridge";

let started = 0;

export const performance = { now: () => host().now() - started, timeOrigin: 0, mark: () => {}, measure: () => {} };

export function beginPerformance(now: number, wallClock: number): void {
  started = now;
  performance.timeOrigin = wallClock;
}
