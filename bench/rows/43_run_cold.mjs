// Cold start: from exec of `relay serve` to the first answer of run_js and of run_py.
import { node, peer } from '../frame/machine.mjs';
import { median } from '../frame/numbers.mjs';
import { relayServe } from '../frame/process.mjs';
import { captureChecked, codeConfig, hello, needsRuns, runOnce, toolOf } from '../frame/runs.mjs';
import { millis, ratio, Table } from '../frame/table.mjs';

const rounds = 5;
const limits = { js: 500, py: 2000 };

async function relayCold(language) {
  const from = performance.now();
  const server = await relayServe(codeConfig(), { core: [] });
  await runOnce(server, language, hello[language]);
  const took = performance.now() - from;
  await server.stop();
  return took;
}

async function peerCold(script) {
  const from = performance.now();
  await captureChecked([node, peer(script)], 'hello\n');
  return performance.now() - from;
}

async function measure() {
  const table = new Table(`Start of relay serve to the first answer, median of ${rounds}`, ['tool', 'relay, cold', 'one cold Node process', 'against it']);
  for (const [language, script] of [['js', 'quickjs_hello.mjs'], ['py', 'pyodide_hello.mjs']]) {
    const times = { relay: [], peer: [] };
    for (let round = 0; round < rounds; ++round) {
      times.relay.push(await relayCold(language));
      if (round < 3) times.peer.push(await peerCold(script));
    }
    const [mine, theirs] = [median(times.relay), median(times.peer)];
    table.add(toolOf[language], millis(mine), millis(theirs), ratio(theirs / mine));
    table.goal(`${toolOf[language]} within ${limits[language] / 1000} s of the start (${millis(mine)})`, mine <= limits[language]);
  }
  return [table];
}

export default { name: 'run-cold', title: 'Cold start to the first run', measure, needs: needsRuns };
