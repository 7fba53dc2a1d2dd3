// Runs the official conformance suite against the fixture server and judges what it wrote down.
//
//   node tests/conformance/run.mjs             both requirement sets, a summary, exit code 1 when something is missing
//
// The suite's own exit code looks at scored scenarios only. We also want the unscored ones below, and no warnings.
import { spawn } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { cleanEnvironment, freePort, modules, Program, program, until } from '../program.mjs';
import { request } from '../mcp.mjs';

const suite = join(modules, '@modelcontextprotocol', 'conformance');

// Unscored scenarios that we pass nevertheless, by requirement set.
export const alsoWanted = {
  '2025-11-25': ['json-schema-2020-12', 'server-sse-polling', 'server-session-lifecycle'],
  '2026-07-28': [
    'json-schema-2020-12', 'http-header-validation', 'http-custom-header-server-validation',
    'tasks-lifecycle', 'tasks-capability-negotiation', 'tasks-wire-fields', 'tasks-request-state-removal', 'tasks-mrtr-input',
    'tasks-request-headers', 'tasks-dispatch-and-envelope', 'tasks-status-notifications', 'tasks-required-task-error',
    'tasks-mrtr-composition',
  ],
};

// The list under `server:` in the suite's own requirement file.
export function scoredScenarios(requirements) {
  const lines = readFileSync(join(suite, 'requirements', `${requirements}.yaml`), 'utf8').split('\n');
  const begin = lines.indexOf('server:') + 1;
  const scenarios = [];
  for (const line of lines.slice(begin)) {
    const entry = /^ {2}- (\S+)/.exec(line);
    if (entry) scenarios.push(entry[1]);
    else if (/^\S/.test(line)) break;
  }
  return scenarios;
}

export async function startFixtures() {
  const port = await freePort();
  const server = new Program(program('relay-conformance-server'), ['--port', String(port)]);
  const endpoint = `http://127.0.0.1:${port}/mcp`;
  await until('the fixture server', () => request(`${endpoint}/server-card`).then((answer) => answer.status === 200, () => false));
  return Object.assign(server, { endpoint, port });
}

// What each scenario's checks said: a Map from its name to the list that the suite wrote.
export async function runSuite(endpoint, requirements) {
  const output = mkdtempSync(join(tmpdir(), 'relay-conformance-'));
  const cli = [join(suite, 'dist', 'index.js'), 'server', '--url', endpoint, '--requirements', requirements, '-o', output];
  const child = spawn(process.execPath, cli, { env: cleanEnvironment(), stdio: ['ignore', 'ignore', 'pipe'] });
  let stderr = '';
  child.stderr.setEncoding('utf8').on('data', (text) => (stderr += text));
  const code = await new Promise((done) => child.once('close', done));
  const results = new Map();
  for (const folder of readdirSync(output)) {
    const name = /^server-(.+?)-\d{4}-\d\d-\d\dT/.exec(folder)?.[1];
    if (name) results.set(name, JSON.parse(readFileSync(join(output, folder, 'checks.json'), 'utf8')));
  }
  rmSync(output, { recursive: true });
  return { code, stderr, results };
}

// The same for one scenario of the client half: the suite plays the server, our client is started by it.
export async function runClientScenario(scenario, revision) {
  const folder = mkdtempSync(join(tmpdir(), 'relay-conformance-'));
  const cli = [join(suite, 'dist', 'index.js'), 'client', '--command', program('relay-conformance-client'), '--scenario', scenario,
    '--spec-version', revision, '-o', folder, '--verbose'];
  const child = spawn(process.execPath, cli, { env: cleanEnvironment(), stdio: ['ignore', 'pipe', 'pipe'] });
  let output = '';
  for (const stream of [child.stdout, child.stderr]) stream.setEncoding('utf8').on('data', (text) => (output += text));
  await new Promise((done) => child.once('close', done));
  const results = new Map();
  for (const path of readdirSync(folder, { recursive: true }))
    if (path.endsWith('checks.json')) results.set(scenario, JSON.parse(readFileSync(join(folder, path), 'utf8')));
  rmSync(folder, { recursive: true });
  return { output, results };
}

// Sentences about everything that is not as it should be.
export function problems(results, scenarios) {
  return scenarios.flatMap((scenario) => {
    const checks = results.get(scenario);
    if (!checks?.length) return [`${scenario}: did not run`];
    return checks
      .filter((check) => ['FAILURE', 'WARNING'].includes(check.status))
      .map((check) => `${scenario}: ${check.id}: ${check.status} ${check.errorMessage ?? ''}`);
  });
}

if (import.meta.main ?? process.argv[1] === import.meta.filename) {
  let wrong = 0;
  for (const requirements of Object.keys(alsoWanted)) {
    const server = await startFixtures();
    const { results } = await runSuite(server.endpoint, requirements);
    await server.stop({ grace: 5000 });
    const scenarios = [...scoredScenarios(requirements), ...alsoWanted[requirements]];
    const found = problems(results, scenarios);
    wrong += found.length;
    const checks = scenarios.flatMap((scenario) => results.get(scenario) ?? []).filter((check) => check.status === 'SUCCESS');
    console.log(`${requirements}: ${scenarios.length} scenarios, ${checks.length} checks passed, ${found.length} problems`);
    for (const problem of found) console.log(`  ${problem}`);
  }
  process.exitCode = wrong ? 1 : 0;
}
