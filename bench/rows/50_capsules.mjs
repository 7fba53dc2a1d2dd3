// Capsules and their dependencies: what sealing and checking cost, and what a run with cached packages costs beside a plain one.
import { setTimeout as sleep } from 'node:timers/promises';
import { capture } from '../frame/process.mjs';
import { has, program, serverCore } from '../frame/machine.mjs';
import { median } from '../frame/numbers.mjs';
import { needsRuns, runOnce, warmRelay } from '../frame/runs.mjs';
import { fixed, micros, millis, ratio, Table } from '../frame/table.mjs';

async function sealing() {
  const table = new Table('A capsule of 2 KB of plain code', ['step', 'takes']);
  if (!has('relay-bench-capsule')) return table.note('build/bin/relay-bench-capsule is missing');
  const { buildNewUs, buildAgainUs, signUs, verifyUs } = JSON.parse(await capture([...serverCore, program('relay-bench-capsule')]));
  table.add('build and sign, new code', micros(buildNewUs)).add('build, the same code again', micros(buildAgainUs));
  table.add('  of it the signature', micros(signUs)).add('verify signature and hashes', micros(verifyUs));
  return table.goal(`building costs well under a millisecond (${fixed(buildNewUs)} µs)`, buildNewUs < 500);
}

const programs = {
  lodash: ['4.17.21', 'import _ from "lodash"; console.log(_.chunk([1, 2, 3], 2).length)'],
  'date-fns': ['4.1.0', 'import { addDays } from "date-fns"; console.log(addDays(new Date(0), 1).getTime())'],
  zod: ['3.24.1', 'import { z } from "zod"; console.log(z.number().parse(1))'],
  mathjs: ['14.0.1', 'import { evaluate } from "mathjs"; console.log(evaluate("1 + 1"))'],
  cheerio: ['1.0.0', 'import { load } from "cheerio"; console.log(load("<b>x</b>")("b").text())'],
  uuid: ['11.0.5', 'import { v4 } from "uuid"; console.log(v4().length)'],
  'csv-parse': ['5.6.0', 'import { parse } from "csv-parse/sync"; console.log(parse("a,b\\n").length)'],
  marked: ['15.0.6', 'import { marked } from "marked"; console.log(marked.parse("# x").length)'],
};

async function timed(work) {
  const from = performance.now();
  await work();
  return performance.now() - from;
}

async function medianRun(server, code, args) {
  const times = [];
  for (let i = 0; i < 7; i++) times.push(await timed(() => runOnce(server, 'js', code, args)));
  return median(times);
}

// In turn with a plain run, each after the pause that the next sandbox needs to load the packages.
async function sideBySide(server, code, args, pause) {
  const [plain, packaged] = [[], []];
  for (let i = 0; i < 9; i++) {
    for (const [times, one, extra] of [[plain, plainCode, {}], [packaged, code, args]]) {
      await sleep(pause);
      times.push(await timed(() => runOnce(server, 'js', one, extra)));
    }
  }
  return { plain: median(plain), packaged: median(packaged), times: median(packaged) / median(plain) };
}

const plainCode = 'console.log(1)';

async function packages() {
  const server = await warmRelay(['js']);
  const table = new Table('run_js with an npm package, over HTTP', ['package', 'first call: install, bundle, run', 'next calls back to back', 'with a pause', 'a plain run beside it', 'ratio']);
  const ratios = [];
  for (const [name, [version, code]] of Object.entries(programs)) {
    const args = { npm: { dependencies: { [name]: version } } };
    const first = await timed(() => runOnce(server, 'js', code, args));
    const { usage } = await runOnce(server, 'js', code, args);
    const next = await medianRun(server, code, args);
    const rested = await sideBySide(server, code, args, 50 + 2 * usage.wallMs);
    ratios.push(rested.times);
    table.add(name, millis(first), millis(next), millis(rested.packaged), millis(rested.plain), ratio(rested.times));
  }
  const there = { npm: { dependencies: { lodash: programs.lodash[0] } } };
  const unused = await sideBySide(server, plainCode, there, 50);
  table.add('lodash, there but not imported', '', millis(await medianRun(server, plainCode, there)), millis(unused.packaged), millis(unused.plain), ratio(unused.times));
  table.goal(`finding cached dependencies costs at most half a plain run (${ratio(unused.times)})`, unused.times <= 1.5);
  return table.goal(`a run that uses one at most 1.5 × (median ${ratio(median(ratios))})`, median(ratios) <= 1.5);
}

export default { name: 'capsules', title: 'Capsules and dependencies', measure: async () => [await sealing(), await packages()], needs: needsRuns };
