// `relay mcp import`: what other programs are configured with, in their own files and shapes.
import assert from 'node:assert/strict';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { test } from 'node:test';
import { run, temporaryDirectory, stateOf } from '../program.mjs';

// A home directory and a project in it, with files as the programs write them.
function home(t, files) {
  const root = temporaryDirectory(t);
  const project = join(root, 'project');
  mkdirSync(project);
  for (const [path, content] of Object.entries(files)) {
    mkdirSync(dirname(join(root, path)), { recursive: true });
    writeFileSync(join(root, path), typeof content === 'string' ? content : JSON.stringify(content));
  }
  return { root, project };
}

const server = (command, more = {}) => ({ mcpServers: { [command]: { command, ...more } } });
const importing = ({ root, project }, args, options = {}) =>
  run('relay', ['mcp', 'import', ...args], { cwd: project, ...options, env: { HOME: root, SET_HERE: 'value', ...options.env } });
const added = ({ project }) => JSON.parse(readFileSync(join(project, 'relay.config.json'), 'utf8').replace(/^\s*\/\/.*$/gm, '').replace(/,(\s*[\]}])/g, '$1')).mcps;

const everywhere = {
  'project/.mcp.json': server('claude-project'),
  'project/.vscode/mcp.json': { inputs: [{ id: 'pat', type: 'promptString' }], servers: { vscode: { type: 'http', url: 'https://v.example/', headers: { Authorization: 'Bearer ${input:pat}' } } } },
  'project/.cursor/mcp.json': server('cursor-project', { args: ['${env:SET_HERE}', '${workspaceFolder}'] }),
  'project/.codex/config.toml': '[mcp_servers.codex-project]\ncommand = "c"\n',
  'project/mcp-servers/one.json': server('folder'),
  '.claude.json': { numStartups: 5, mcpServers: { 'claude-user': { type: 'stdio', command: 'c' } }, projects: { '/elsewhere': { mcpServers: { far: { command: 'f' } } } } },
  '.config/Claude/claude_desktop_config.json': server('desktop'),
  '.config/Code/User/settings.json': '{ // settings\n "mcp": {"servers": {"code-user": {"command": "c"}}},\n}',
  '.copilot/mcp-config.json': server('copilot'),
  '.cursor/mcp.json': server('cursor-user'),
  '.codeium/windsurf/mcp_config.json': { mcpServers: { windsurf: { serverUrl: 'https://w.example/mcp' } } },
  '.gemini/settings.json': { mcpServers: { gemini: { httpUrl: 'https://g.example/mcp' } } },
  '.codex/config.toml': '[mcp_servers.codex-user]\nurl = "https://c.example/mcp"\nbearer_token_env_var = "T"\n',
  '.config/opencode/opencode.json': { mcp: { opencode: { type: 'local', command: ['o', 'p'] } } },
  '.mcp-inspector/mcp.json': server('inspector'),
  'MCPs/mine.json': server('mcps'),
  '.config/mcp/servers/x.json': server('servers'),
};

test('every known place is read, with its provenance', async (t) => {
  const at = home(t, everywhere);
  const { code, stdout } = await importing(at, ['--dry-run']);
  assert.equal(code, 0);
  for (const name of ['claude-project', 'vscode', 'cursor-project', 'codex-project', 'folder', 'claude-user', 'desktop', 'code-user', 'copilot', 'cursor-user', 'windsurf', 'gemini',
    'codex-user', 'opencode', 'inspector', 'mcps', 'servers']) assert.match(stdout, new RegExp(`^  ${name}$`, 'm'), name);
  assert.match(stdout, /found 17 servers in 17 files/);
  assert.match(stdout, new RegExp(`from +Windsurf: ${at.root}/.codeium/windsurf/mcp_config.json, mcpServers.windsurf`));
  assert.match(stdout, /needs +a value: relay mcp secret set vscode\.pat/);
  assert.match(stdout, /skipped far .*\/elsewhere; --all/);
  assert.throws(() => added(at));  // a dry run writes nothing
});

test('--yes adds all of it, and the result is a configuration', async (t) => {
  const at = home(t, everywhere);
  const { code, stdout, stderr } = await importing(at, ['--yes', '--all', '--expose', 'both']);
  assert.equal(code, 0, stdout + stderr);
  const entries = Object.fromEntries(added(at).map((entry) => [entry.name, entry]));
  assert.equal(Object.keys(entries).length, 18);
  assert.deepEqual(entries['cursor-project'].args, ['${env:SET_HERE}', at.project]);
  assert.equal(entries.vscode.headers.Authorization, 'Bearer ${secret:vscode.pat}');
  assert.equal(entries['codex-user'].headers.Authorization, 'Bearer ${env:T}');
  assert.deepEqual([entries.opencode.command, entries.opencode.args], ['o', ['p']]);
  assert.equal(entries.far.cwd, '/elsewhere');
  assert.equal(entries.far.expose, 'both');
  assert.equal((await run('relay', ['check-config'], { cwd: at.project })).code, 0);
  const again = await importing(at, ['--yes']);
  assert.match(again.stdout, /found 0 servers/);
  assert.match(again.stdout, /you have a server of that name/);
});

test('it asks before each server and shows the whole command line', async (t) => {
  const at = home(t, { '.cursor/mcp.json': { mcpServers: { a: { command: 'sh', args: ['-c', 'rm -rf x'] }, b: { command: 'b' }, c: { command: 'c' } } } });
  const { stdout } = await importing(at, [], { input: 'n\ny\n' });
  assert.match(stdout, /add a\? It would run: sh -c 'rm -rf x'/);
  assert.deepEqual(added(at).map(({ name }) => name), ['b']);
});

test('without an answer nothing is added', async (t) => {
  const at = home(t, { '.cursor/mcp.json': server('a') });
  const { code, stdout } = await importing(at, []);
  assert.equal(code, 0);
  assert.match(stdout, /nothing was added/);
  assert.throws(() => added(at));
});

test('secrets go to the secret store, or stay where the user wants them, and are never printed', async (t) => {
  const files = { '.cursor/mcp.json': { mcpServers: { gh: { command: 'x', env: { GITHUB_TOKEN: 'ghp_very-secret-4711' } } } } };
  const kept = home(t, files);
  const { stdout, stderr } = await importing(kept, ['--yes']);
  assert.ok(!(stdout + stderr).includes('4711'), stdout + stderr);
  assert.deepEqual(added(kept)[0].env, { GITHUB_TOKEN: '${secret:gh.GITHUB_TOKEN}' });
  assert.deepEqual(JSON.parse(readFileSync(join(stateOf(kept.project), 'mcp/secrets.json'), 'utf8')), { 'gh.GITHUB_TOKEN': 'ghp_very-secret-4711' });
  const plain = home(t, files);
  const answered = await importing(plain, [], { input: 'y\nn\n' });
  assert.ok(!(answered.stdout + answered.stderr).includes('4711'));
  assert.deepEqual(added(plain)[0].env, { GITHUB_TOKEN: 'ghp_very-secret-4711' });
});

test('what leads back to relay, what is disabled, unsupported or defined before is skipped with a reason', async (t) => {
  const at = home(t, {
    'project/.mcp.json': { mcpServers: { twice: { command: 'first' }, me: { command: '/opt/relay', args: ['stdio'] }, wrapped: { command: 'npx', args: ['mcp-remote', 'http://localhost:7800/mcp'] } } },
    '.cursor/mcp.json': { mcpServers: { twice: { command: 'second' }, url: { url: 'http://127.0.0.1:7800/mcp' }, ws: { type: 'ws', url: 'ws://h' }, off: { command: 'o', disabled: true } } },
    '.gemini/settings.json': '{ broken',
  });
  const { stdout } = await importing(at, ['--yes']);
  assert.deepEqual(added(at).map(({ name, command }) => [name, command]), [['twice', 'first']]);
  for (const [name, why] of [['me', /Relay itself/], ['wrapped', /Relay itself/], ['url', /Relay itself/], ['ws', /"ws" is not supported/], ['off', /disabled there/], ['twice', /defined already in .*\.mcp\.json/]])
    assert.match(stdout.split('\n').find((line) => line.includes(`skipped ${name} `)) ?? '', why, `${name} in:\n${stdout}`);
  assert.match(stdout, /not read: .*settings\.json: not valid JSON/);
});

test('--from takes a source or any file', async (t) => {
  const at = home(t, { ...everywhere, 'project/my.toml': '[mcp_servers.mine]\ncommand = "m"\n' });
  assert.match((await importing(at, ['--dry-run', '--from', 'windsurf'])).stdout, /found 1 server in 1 file/);
  assert.match((await importing(at, ['--dry-run', '--from', 'my.toml'])).stdout, /^ {2}mine$/m);
});
