// A run that makes 1,000 upstream calls, against the same call made by a client through the gateway.
import { node, peer } from '../frame/machine.mjs';
import { callOnce } from '../frame/mcp.mjs';
import { quantile } from '../frame/numbers.mjs';
import { relayServe } from '../frame/process.mjs';
import { needsRuns, runOnce } from '../frame/runs.mjs';
import { micros, Table } from '../frame/table.mjs';

const calls = 1000;
const window = 32;

const programs = {
  'JavaScript, one after the other': ['js', `const t = performance.now(); for (let n = 0; n < ${calls}; n++) if ((await mcp.work.echo({n})).n !== n) throw n; performance.now() - t`],
  [`JavaScript, ${window} at once`]: ['js', `const t = performance.now(); let n = 0;
    await Promise.all(Array.from({length: ${window}}, async () => { while (n < ${calls}) await mcp.work.echo({n: n++}) })); performance.now() - t`],
  'Python, one after the other': ['py', `import time\nt = time.perf_counter()\nfor n in range(${calls}):\n    assert mcp_work.echo(n=n)["n"] == n\n(time.perf_counter() - t) * 1000`],
  [`Python, ${window} at once`]: ['py', `import asyncio, time
t = time.perf_counter()
numbers = iter(range(${calls}))
async def work():
    for n in numbers:
        await mcp_work.echo(n=n)
await asyncio.gather(*[work() for _ in range(${window})])
(time.perf_counter() - t) * 1000`],
};

async function clientCall(server) {
  const times = [];
  for (let n = 0; n < 300; n++) {
    const from = performance.now();
    await callOnce(`${server.url}/mcp`, 'work__echo', { n });
    times.push((performance.now() - from) * 1000);
  }
  return quantile(times, 0.5);
}

async function measure() {
  const mcps = [{ name: 'work', command: node, args: [peer('many_tools.mjs'), '20'], expose: 'both' }];
  const server = await relayServe({ toolsets: ['code'], policy: { limits: { timeoutMs: 60_000 } }, mcps }, { core: [] });
  const table = new Table(`${calls} upstream calls in one run, warm Node upstream over stdio`, ['', 'per call']);
  const serial = [];
  for (const [name, [language, code]] of Object.entries(programs)) {
    await runOnce(server, language, code);
    const runs = [];
    for (let i = 0; i < 3; i++) runs.push((await runOnce(server, language, code)).value);
    const each = (quantile(runs, 0.5) / calls) * 1000;
    if (name.endsWith('other')) serial.push(each);
    table.add(name, micros(each));
  }
  table.add('the same call by a client over HTTP, through the gateway (p50)', micros(await clientCall(server)));
  return [table.goal(`at most 400 µs per call, one after the other (${serial.map(micros).join(', ')})`, serial.every((each) => each <= 400))];
}

export default { name: 'code-mode-calls', title: '1,000 upstream calls from one run', measure, needs: needsRuns };
