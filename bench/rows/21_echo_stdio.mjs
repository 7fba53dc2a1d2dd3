// tools/call of an echo over stdio, one at a time and 32 in flight.
import { clientCore, has, node, peer, pinned, program, seconds } from '../frame/machine.mjs';
import { echoText, echoTool } from '../frame/mcp.mjs';
import { capture, directory } from '../frame/process.mjs';
import { megabytes, micros, ratio, Table, whole } from '../frame/table.mjs';

const server = pinned(0);
const fixture = [program('relay-conformance-server'), '--stdio'];

const subjects = [
  ['SDK v1, legacy', 'legacy', [node, peer('sdk_v1_server.mjs')]],
  ['SDK v2, legacy', 'legacy', [node, peer('sdk_v2_server.mjs')]],
  ['SDK v2, modern', 'modern', [node, peer('sdk_v2_server.mjs')]],
  ['relay, legacy', 'legacy', fixture],
  ['relay, modern', 'modern', fixture],
];

async function drive(era, line, window) {
  const command = [...clientCore, program('relay-bench-stdio'), '--era', era, '--tool', echoTool, '--expect', echoText,
    '--seconds', String(seconds), '--window', String(window), '--', ...server, ...line];
  return JSON.parse(await capture(command, { seconds: 40, cwd: directory() }));
}

async function measure() {
  const table = new Table(`tools/call echo over stdio, ${seconds} s each`,
    ['server', 'serial p50', 'p99', 'calls/s', '32 in flight: p50', 'p99', 'calls/s', 'against SDK v1 (serial, 32)', 'RSS after']);
  let base;
  for (const [name, era, line] of subjects) {
    const [serial, piped] = [await drive(era, line, 1), await drive(era, line, 32)];
    base ??= { serial, piped };
    table.add(name, micros(serial.p50), micros(serial.p99), whole(serial.rps), micros(piped.p50), micros(piped.p99), whole(piped.rps),
      `${ratio(serial.rps / base.serial.rps)}, ${ratio(piped.rps / base.piped.rps)}`, megabytes(piped.rssMb));
  }
  return [table];
}

export default {
  name: 'echo-stdio', title: 'tools/call echo over stdio', measure,
  needs: () => ['relay-conformance-server', 'relay-bench-stdio'].filter((name) => !has(name)).map((name) => `build/bin/${name} is missing`)[0],
};
