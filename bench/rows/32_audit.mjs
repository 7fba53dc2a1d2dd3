// The audit log afterwards: how fast it is verified, and how fast redaction reads what goes into it.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { clientCore, has, program, serverCore } from '../frame/machine.mjs';
import { modernCall } from '../frame/mcp.mjs';
import { capture, relayServe, stateOf } from '../frame/process.mjs';
import { fixed, millis, Table, whole } from '../frame/table.mjs';
import { load, needsWrk } from '../frame/wrk.mjs';

async function verification() {
  const server = await relayServe({ toolsets: ['files', 'admin'] });
  await load(`${server.url}/mcp`, modernCall('server_info'), { connections: 32, check: '"version"', core: clientCore });
  await server.stop();
  const log = readFileSync(join(stateOf(server.cwd), 'audit.jsonl'));
  const records = log.toString('latin1').split('\n').length - 1;
  const from = performance.now();
  const verdict = JSON.parse(await capture([...serverCore, program('relay'), 'audit', 'verify', '--json'], { cwd: server.cwd }));
  const ms = performance.now() - from;
  if (verdict.ok !== true) throw new Error(`the log does not verify: ${JSON.stringify(verdict)}`);
  const table = new Table('relay audit verify, on the log of a loaded server', ['records', 'MB', 'took', 'records/s', 'MB/s']);
  return table.add(whole(records), fixed(log.length / 2 ** 20), millis(ms), whole(records / (ms / 1000)), fixed(log.length / 2 ** 20 / (ms / 1000)));
}

async function redaction() {
  const table = new Table('Redaction, 4 MB of text', ['text', 'MB/s']);
  if (!has('relay-bench-redaction')) return table.note('build/bin/relay-bench-redaction is missing');
  const speeds = JSON.parse(await capture([...serverCore, program('relay-bench-redaction')]));
  for (const [name, speed] of Object.entries(speeds)) table.add(name, fixed(speed));
  return table;
}

export default {
  name: 'audit', title: 'Verification and redaction', measure: async () => [await verification(), await redaction()],
  needs: () => needsWrk() ?? (has('relay') ? undefined : 'build/bin/relay is missing'),
};
