// The policy against callers who look for a way around it. Each test is one way that once was open.
import assert from 'node:assert/strict';
import { existsSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { run, stateOf, temporaryDirectory } from '../program.mjs';
import { initializeMessage } from '../mcp.mjs';
import { connect } from '../files/clients.mjs';

function project(t) {
  const dir = temporaryDirectory(t);
  for (const folder of ['pub', 'secrets', 'safe']) mkdirSync(join(dir, folder));
  writeFileSync(join(dir, 'pub/file.txt'), 'public');
  writeFileSync(join(dir, 'secrets/key.txt'), 'top secret');
  symlinkSync('../secrets/key.txt', join(dir, 'pub/link'));
  symlinkSync('../secrets', join(dir, 'pub/dir'));
  return dir;
}
const mounted = (dir) => [{ name: 'p', path: dir, mode: 'rw' }];
const uri = (path) => `relay://files/${encodeURIComponent(path.slice(1))}`;

// What a program prints, or the message of what it threw.
async function program(client, body, extra = {}) {
  const code = `import fs from 'node:fs'; try { ${body} } catch (e) { console.log('THREW ' + e.message) }`;
  return (await client.done('run_js', { code, ...extra })).stdout;
}

test('empty lists in policy.filesystem grant nothing, in mounts of mode rw neither', async (t) => {
  const dir = project(t);
  const client = await connect(t, 'modern stdio', {
    config: { toolsets: ['files', 'code'], mounts: mounted(dir), policy: { filesystem: { readonly: [], writable: [] } } },
  });
  assert.match(await client.refused('read', { path: '/host/p/pub/file.txt' }), /EACCES/);
  assert.match(await client.refused('write', { path: '/host/p/new', content: 'x' }), /EACCES/);
  assert.match(await client.refused('write', { path: '/tmp/new', content: 'x' }), /EACCES/);
  assert.match(await program(client, "fs.writeFileSync('/host/p/new', 'x')"), /^THREW EACCES/);
  assert.match(await program(client, "console.log(fs.readFileSync('/host/p/pub/file.txt', 'utf8'))"), /^THREW EACCES/);
  assert.ok(!existsSync(join(dir, 'new')));
});

test('policy.filesystem.denied holds for tools, search, resources and programs', async (t) => {
  const client = await connect(t, 'modern stdio', {
    config: { toolsets: ['files', 'code'], mounts: mounted(project(t)), policy: { filesystem: { denied: ['/host/p/secrets'] } } },
  });
  assert.match(await client.refused('read', { path: '/host/p/secrets/key.txt' }), /EACCES/);
  assert.deepEqual((await client.done('read', { path: '/host/p' })).entries.map(({ name }) => name), ['pub', 'safe']);
  assert.equal((await client.done('search', { pattern: 'secret', includeIgnored: true })).totalMatches, 0);
  await assert.rejects(client.call('resources/read', { uri: uri('/host/p/secrets/key.txt') }), /EACCES/);
  assert.match(await client.refused('write', { path: '/host/p/secrets/new', content: 'x' }), /EACCES/);
  assert.match(await program(client, "console.log(fs.readFileSync('/host/p/secrets/key.txt', 'utf8'))"), /^THREW EACCES/);
  assert.match(await program(client, "fs.renameSync('/host/p/secrets', '/host/p/open')"), /^THREW EACCES/);
  assert.match(await program(client, "fs.rmSync('/host/p/secrets', {recursive: true})"), /^THREW EACCES/);
});

test('denied of a call holds for that call', async (t) => {
  const client = await connect(t, 'modern stdio', { config: { toolsets: ['code'], mounts: mounted(project(t)) } });
  const read = "console.log(fs.readFileSync('/host/p/secrets/key.txt', 'utf8'))";
  assert.equal(await program(client, read), 'top secret\n');
  assert.match(await program(client, read, { policy: { filesystem: { denied: ['/host/p/secrets'] } } }), /^THREW EACCES/);
  assert.match(await program(client, "console.log(fs.readFileSync('/host/p/pub/link', 'utf8'))",
    { policy: { filesystem: { denied: ['/host/p/secrets'] } } }), /^THREW EACCES/);
});

test('a link inside a mount does not leave policy.filesystem', async (t) => {
  const client = await connect(t, 'modern stdio', {
    config: { toolsets: ['files', 'code'], mounts: mounted(project(t)),
      policy: { filesystem: { readonly: ['/host/p/pub'], writable: ['/host/p/pub', '/tmp'] } } },
  });
  assert.equal((await client.done('read', { path: '/host/p/pub/file.txt' })).content, 'public');
  for (const path of ['/host/p/pub/link', '/host/p/pub/dir/key.txt', '/host/p/pub/dir'])
    assert.match(await client.refused('read', { path }), /EACCES/, path);
  for (const path of ['/host/p/pub/link', '/host/p/pub/dir'])
    assert.match(await client.refused('search', { pattern: 'secret', paths: [path] }), /EACCES/, path);
  await assert.rejects(client.call('resources/read', { uri: uri('/host/p/pub/link') }), /EACCES/);
  assert.match(await client.refused('write', { path: '/host/p/pub/dir/new', content: 'x' }), /EACCES/);
  assert.match(await program(client, "console.log(fs.readFileSync('/host/p/pub/link', 'utf8'))"), /^THREW EACCES/);
  assert.match(await program(client, "console.log(fs.readdirSync('/host/p/pub/dir'))"), /^THREW EACCES/);
});

test('policy.deny sees the path that a resource URI stands for', async (t) => {
  const client = await connect(t, 'modern stdio', {
    config: { toolsets: ['files'], mounts: mounted(project(t)), policy: { deny: ['path=.*/secrets(/|$)'] } },
  });
  for (const spelling of ['host/p/secrets/key.txt', 'host%2Fp%2Fsecrets%2Fkey.txt', 'host%2Fp%2F%73ecrets%2Fkey.txt', 'host%2Fp%2Fpub%2F..%2Fsecrets%2Fkey.txt'])
    await assert.rejects(client.call('resources/read', { uri: `relay://files/${spelling}` }), /DENIED|denied|no resource/i, spelling);
  assert.match(await client.refused('read', { path: '/host/p//pub/../secrets/key.txt' }), /DENIED/);
  assert.equal((await client.done('read', { path: '/host/p/pub/file.txt' })).content, 'public');
});

test('policy.deny sees content that is written as base64', async (t) => {
  const client = await connect(t, 'modern stdio', { config: { toolsets: ['files'], policy: { deny: ['BEGIN PRIVATE KEY'] } } });
  const content = Buffer.from('-----BEGIN PRIVATE KEY-----').toString('base64');
  assert.match(await client.refused('write', { path: '/tmp/k', content, encoding: 'base64' }), /DENIED/);
});

test('policy.allow is not met by the content of a write', async (t) => {
  const dir = project(t);
  const client = await connect(t, 'modern stdio', {
    config: { toolsets: ['files'], mounts: mounted(dir), policy: { mode: 'guarded', allow: ['/host/p/safe/'] } },
  });
  assert.match(await client.refused('write', { path: '/host/p/x', content: '/host/p/safe/' }), /DENIED/);
  assert.match(await client.refused('write', { path: '/host/p/safe/../x', content: 'x' }), /DENIED/);
  await client.done('write', { path: '/host/p/safe/x', content: 'x' });
  assert.ok(!existsSync(join(dir, 'x')));
});

test('guarded mode denies programs the writes that it denies the tool', async (t) => {
  const dir = project(t);
  const client = await connect(t, 'modern stdio', {
    config: { toolsets: ['files', 'code'], mounts: mounted(dir),
      policy: { mode: 'guarded', allow: ['^write path=/host/p/safe/'], rules: [{ tool: 'write', path: '/host/p/ruled*', effect: 'allow' }] } },
  });
  assert.match(await client.refused('write', { path: '/host/p/x', content: 'x' }), /DENIED/);
  for (const attempt of ["fs.writeFileSync('/host/p/x', 'x')", "fs.appendFileSync('/host/p/pub/file.txt', 'x')", "fs.mkdirSync('/host/p/x')",
    "fs.rmSync('/host/p/pub/file.txt')", "fs.renameSync('/host/p/pub/file.txt', '/host/p/safe/f')", "fs.truncateSync('/host/p/pub/file.txt', 0)",
    "fs.rmSync('/host/p/pub', {recursive: true})"])
    assert.match(await program(client, attempt), /^THREW EACCES/, attempt);
  assert.equal(readFileSync(join(dir, 'pub/file.txt'), 'utf8'), 'public');
  assert.equal(await program(client, "fs.writeFileSync('/host/p/safe/y', 'y'); fs.writeFileSync('/host/p/ruled', 'z'); fs.writeFileSync('/tmp/w', 'w'); console.log('ok')"), 'ok\n');
  assert.equal(readFileSync(join(dir, 'safe/y'), 'utf8'), 'y');
});

test('a deny pattern for the tool write holds for programs too', async (t) => {
  const dir = project(t);
  const client = await connect(t, 'modern stdio', { config: { toolsets: ['code'], mounts: mounted(dir), policy: { deny: ['^write .*\\.env$'] } } });
  assert.match(await program(client, "fs.writeFileSync('/host/p/.env', 'x')"), /^THREW EACCES/);
  assert.equal(await program(client, "fs.writeFileSync('/host/p/other', 'x'); console.log('ok')"), 'ok\n');
});

test('a rule for one file is not evaded by renaming its directory', async (t) => {
  const dir = project(t);
  mkdirSync(join(dir, 'kept/deep'), { recursive: true });
  writeFileSync(join(dir, 'kept/deep/file'), 'x');
  mkdirSync(join(dir, 'free'));
  writeFileSync(join(dir, 'free/file'), 'x');
  const client = await connect(t, 'modern stdio', { config: { toolsets: ['code'], mounts: mounted(dir), policy: { deny: ['^write /host/p/kept/deep/.*'] } } });
  assert.match(await program(client, "fs.renameSync('/host/p/kept', '/host/p/gone')"), /^THREW EACCES/);
  assert.match(await program(client, "fs.renameSync('/host/p/kept/deep', '/host/p/gone')"), /^THREW EACCES/);
  assert.match(await program(client, "fs.renameSync('/host/p/kept/deep/file', '/host/p/gone')"), /^THREW EACCES/);
  assert.equal(await program(client, "fs.renameSync('/host/p/free', '/host/p/moved'); console.log('ok')"), 'ok\n');
  assert.ok(existsSync(join(dir, 'kept/deep/file')) && existsSync(join(dir, 'moved/file')));
});

test('readonly mode refuses everything but reading', async (t) => {
  const client = await connect(t, 'modern stdio', { config: { toolsets: ['files', 'code'], mounts: mounted(project(t)), policy: { mode: 'readonly' } } });
  assert.equal((await client.done('read', { path: '/host/p/pub/file.txt' })).content, 'public');
  assert.match(await client.refused('write', { path: '/tmp/x', content: 'x' }), /DENIED/);
  assert.match(await client.refused('run_js', { code: '1' }), /DENIED/);
});

test('a name that a client gives itself satisfies no allow rule, and explain says so', async (t) => {
  const { name } = initializeMessage.params.clientInfo;
  const client = await connect(t, 'legacy stdio', {
    config: { toolsets: ['files'], mounts: mounted(project(t)), policy: { mode: 'guarded', rules: [{ client: `local/${name}`, effect: 'allow' }] } },
  });
  assert.match(await client.refused('write', { path: '/host/p/x', content: 'x' }), /DENIED/);
  const lines = readFileSync(join(stateOf(client.cwd), 'audit.jsonl'), 'utf8').trim().split('\n').map((line) => JSON.parse(line));
  const id = JSON.stringify(lines.at(-1)).match(/req_[a-z2-7]+-[0-9a-f]+/)[0];
  const { stdout } = await run('relay', ['explain', id], { cwd: client.cwd });
  assert.match(stdout, /own claim/);
});

test('what a call says about its policy is understood or refused', async (t) => {
  const client = await connect(t, 'modern stdio', { config: { toolsets: ['code'] } });
  const cases = [
    [{ policy: { filesystem: [] } }, /policy\.filesystem.*object/], [{ policy: { network: 'off' } }, /policy\.network.*object/],
    [{ policy: { limits: [1] } }, /policy\.limits.*object/], [{ policy: { limits: null } }, /policy\.limits/], [{ policy: { filesytem: {} } }, /did you mean "filesystem"/],
    [{ policy: { filesystem: { deny: [] } } }, /policy\.filesystem\.deny/], [{ policy: { limits: { memMb: 'x' } } }, /memMb/],
    [{ npm: { dependency: {} } }, /npm.*dependenc/], [{ npm: { dependencies: [] } }, /dependencies/], [{ npm: { lockfile: 1 } }, /lockfile/],
    [{ reset: true }, /session/], [{ reset: false }, /session/],
  ];
  for (const [extra, says] of cases) assert.match(await client.refused('run_js', { code: '1', ...extra }), says, JSON.stringify(extra));
  for (const [extra, says] of [[{ pip: { requirement: [] } }, /pip.*requirements/], [{ pip: { requirements: 'x' } }, /requirements/], [{ reset: true }, /session/],
    [{ policy: { filesytem: {} } }, /did you mean "filesystem"/], [{ policy: { filesystem: { deny: [] } } }, /policy\.filesystem\.deny/], [{ policy: { network: 'off' } }, /policy\.network.*object/]])
    assert.match(await client.refused('run_py', { code: '1', ...extra }), says, JSON.stringify(extra));
});

test('a tool that is switched off is not listed, not callable; resultBytes cuts', async (t) => {
  const client = await connect(t, 'modern stdio', { config: { toolsets: ['files'], tools: { write: { enabled: false }, read: { resultBytes: 1024 } } } });
  assert.deepEqual((await client.call('tools/list')).tools.map(({ name }) => name).sort(), ['read', 'search']);
  await assert.rejects(client.call('tools/call', { name: 'write', arguments: { path: '/tmp/x', content: 'x' } }), /write/);
});
