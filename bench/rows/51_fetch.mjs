// A guest's fetch through the guarded client against curl, both to one server on loopback.
import { freePort, launch, ready, relayServe } from '../frame/process.mjs';
import { clientCore, node, peer } from '../frame/machine.mjs';
import { median } from '../frame/numbers.mjs';
import { codeConfig, needsRuns, runOnce } from '../frame/runs.mjs';
import { capture } from '../frame/process.mjs';
import { micros, ratio, Table } from '../frame/table.mjs';

const times = 200;

// Milliseconds of each request inside one run: what a program sees of its own fetch.
const guest = (url) => `
  const times = [];
  for (let i = 0; i < ${times}; i++) {
    const from = performance.now();
    const body = await (await fetch("${url}")).bytes();
    times.push(performance.now() - from);
  }
  times`;

// One curl process for all requests, one connection, as the guarded client keeps one.
async function direct(url) {
  const config = `url = "${url}"\noutput = "/dev/null"\n`.repeat(times);
  const out = await capture(['curl', '--silent', '--write-out', '%{time_total}\\n', '--config', '-'], { input: config });
  return out.trim().split('\n').map((line) => Number(line) * 1000);
}

async function measure() {
  const port = await freePort();
  const files = launch([...clientCore, node, peer('loopback_files.mjs'), String(port)]);
  await ready(`http://127.0.0.1:${port}/small`, files);
  const server = await relayServe({ ...codeConfig(), policy: { network: { allowedDomains: ['localhost'], blockPrivateRanges: false } } }, { core: [] });
  const table = new Table(`${times} requests one after the other, loopback allowed for the purpose`, ['body', 'curl, one connection: p50', "the guest's fetch: p50", 'ratio']);
  for (const [path, name] of [['/small', '5 bytes'], ['/large', '1 MB']]) {
    const url = `http://localhost:${port}${path}`;
    const curl = median(await direct(url)) * 1000;
    const fetched = median((await runOnce(server, 'js', guest(url))).value) * 1000;
    table.add(name, micros(curl), micros(fetched), ratio(fetched / curl));
  }
  return [table.note('The guest sends a frame to relay, relay resolves, judges and asks, and the body goes back into the engine in WebAssembly.')];
}

export default { name: 'fetch', title: 'Guarded fetch', measure, needs: needsRuns };
