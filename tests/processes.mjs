// What /proc says about processes: who descends from whom, who carries a mark, what they hold.
import { readdirSync, readFileSync, readlinkSync } from 'node:fs';

const pids = () => readdirSync('/proc').filter((name) => /^\d+$/.test(name)).map(Number);

function readOr(path, otherwise) {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return otherwise;  // the process ended, or is not ours to look at
  }
}

// pid, parent, name, state and start time. A pid alone may be reused; with its start time it names one process.
export function describe(pid) {
  const text = readOr(`/proc/${pid}/stat`, '');
  if (!text) return undefined;
  const close = text.lastIndexOf(')');
  const fields = text.slice(close + 2).split(' ');
  return { pid, name: text.slice(text.indexOf('(') + 1, close), state: fields[0], parent: Number(fields[1]), started: fields[19] };
}

export function alive({ pid, started }) {
  const now = describe(pid);
  return now !== undefined && now.started === started && now.state !== 'Z' && now.state !== 'X';
}

// Zombies count here: an unreaped child is a leak of its parent.
export function descendants(root) {
  const all = pids().map(describe).filter(Boolean);
  const found = [];
  let parents = new Set([root]);
  while (parents.size > 0) {
    const children = all.filter((one) => parents.has(one.parent));
    found.push(...children);
    parents = new Set(children.map((one) => one.pid));
  }
  return found;
}

// The zygotes of a server: the process that it started for each runtime, and the one inside, which booted and forks.
export function zygotesOf(root, among = descendants(root)) {
  const all = among.filter((one) => one.name.startsWith('relay-zygote') && one.state !== 'Z');
  const outer = all.filter((one) => one.parent === root).map((one) => one.pid);
  return all.filter((one) => outer.includes(one.pid) || outer.includes(one.parent));
}

// Processes that inherited TEST_MARK, wherever they have been reparented to.
export function marked(mark) {
  return pids().filter((pid) => readOr(`/proc/${pid}/environ`, '').includes(`TEST_MARK=${mark}\0`)).map(describe).filter(Boolean);
}

export function openFiles(pid) {
  try {
    return readdirSync(`/proc/${pid}/fd`).map((fd) => {
      try {
        return readlinkSync(`/proc/${pid}/fd/${fd}`);
      } catch {
        return '';
      }
    }).filter(Boolean);
  } catch {
    return [];
  }
}

const field = (text, name) => Number(new RegExp(`^${name}:\\s+(\\d+) kB`, 'm').exec(text)?.[1] ?? 0) / 1024;

// Megabytes: resident, proportional (shared pages divided), private (what would come back if it died).
export function memory(pid) {
  const rollup = readOr(`/proc/${pid}/smaps_rollup`, '');
  return {
    rss: field(rollup, 'Rss'), pss: field(rollup, 'Pss'),
    private: field(rollup, 'Private_Clean') + field(rollup, 'Private_Dirty'),
  };
}

export const threads = (pid) => Number(/^Threads:\s+(\d+)/m.exec(readOr(`/proc/${pid}/status`, ''))?.[1] ?? 0);
