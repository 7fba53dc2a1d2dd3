// Nothing is accepted and ignored: every key of the configuration's schema and every optional argument of every tool is flipped,
// and something that a user can see must differ. A key or argument without an entry here fails the test.
//
// Keys come in groups. A group starts relay with the plain configuration, twice, and with all of the group's keys flipped. Each key has
// a look of its own, which must see the same at the plain ones and something else at the flipped one.
import assert from 'node:assert/strict';
import { existsSync, mkdirSync, readFileSync, readdirSync, symlinkSync, writeFileSync } from 'node:fs';
import http from 'node:http';
import { connect as connectTcp } from 'node:net';
import { dirname, join } from 'node:path';
import { test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { initialize, request } from '../mcp.mjs';
import { atEnd, configured, freePort, run, serve, start, stateOf, temporaryDirectory, until } from '../program.mjs';
import { another, connect } from '../files/clients.mjs';
import { listen } from './facts_server.mjs';

const root = join(import.meta.dirname, '..', '..');
const schema = JSON.parse(readFileSync(join(root, 'src/config/config.schema.json'), 'utf8'));
const facts = join(import.meta.dirname, 'facts_server.mjs');
const node = process.execPath;
const seenByAll = [join(facts, '..'), dirname(node)];  // what a caged facts server needs to start

function* keysOf(part, path = '') {
  for (const [name, value] of Object.entries(part.properties ?? {})) {
    const here = path ? `${path}.${name}` : name;
    if (value.type === 'array' && value.items.type === 'object') yield* keysOf(value.items, `${here}[]`);
    else if (typeof value.additionalProperties === 'object' && value.additionalProperties.properties) yield* keysOf(value.additionalProperties, `${here}.*`);
    else if (value.properties) {
      if (value.type !== 'object') yield here;
      yield* keysOf(value, here);
    } else yield here;
  }
}

const shown = new Set();

// What a call gives, whether it works or not: everything that a client sees of it.
const outcome = async (client, name, args = {}) => {
  try {
    const { content, isError = false } = await client.tool(name, args);
    return { isError, text: content.filter(({ type }) => type === 'text').map(({ text }) => text).join('\n') };
  } catch (error) {
    return { thrown: error.message };
  }
};
const works = async (client, name, args) => { const { isError, thrown } = await outcome(client, name, args); return !isError && !thrown; };
const factsOf = async (client, tool, args) => { const { text, isError } = await outcome(client, tool, args); return isError ? 'refused' : JSON.parse(text ?? 'null'); };
const toolNames = async (client) => (await client.call('tools/list')).tools.map(({ name }) => name).sort();
const info = async (client) => (await client.tool('server_info')).structuredContent;

// `world` makes what both starts share; `plain` and `flipped` are configurations made from it; `looks` has one function per key.
function group(title, { world = () => ({}), plain, flipped, start, looks }) {
  test(title, async (t) => {
    const seen = [];
    for (const make of [plain, plain, flipped]) {
      const is = make === flipped ? 'flipped' : 'plain';
      const shared = await world(t, is);
      const started = await start(t, await make(shared), shared);
      const answers = {};
      for (const [key, look] of Object.entries(looks)) answers[key] = await look(started, { ...shared, is });
      seen.push(answers);
    }
    for (const key of Object.keys(looks)) {
      assert.deepEqual(seen[1][key], seen[0][key], `${key}: the look sees something else each time`);
      assert.notDeepEqual(seen[2][key], seen[0][key], `${key} has no effect: ${JSON.stringify(seen[0][key])?.slice(0, 300)}`);
      shown.add(key);
    }
  });
}
// A server that ends instead of answering says why.
async function onStdio(t, config) {
  const client = await connect(t, 'modern stdio', { config });
  const early = client.server.exit.then(() => assert.fail(`relay ended: ${client.server.stderr.slice(0, 2000)}`));
  early.catch(() => {});
  await Promise.race([client.call('ping'), early]).catch((error) => { if (error instanceof assert.AssertionError) throw error; });
  return client;
}

function files(t) {
  const [one, two] = [temporaryDirectory(t), temporaryDirectory(t)];
  for (const dir of [one, two]) {
    mkdirSync(join(dir, 'd'));
    writeFileSync(join(dir, 'a.txt'), dir === one ? 'one' : 'two');
    writeFileSync(join(dir, 'd/b.txt'), 'b');
    symlinkSync('a.txt', join(dir, 'link'));
  }
  return { one, two };
}
const mount = (name, path, more = {}) => ({ name, path, ...more });
const denies = (more) => ({ tool: 'read', effect: 'deny', ...more });
const readsTmp = (name) => async (client) => outcome(client, 'read', { path: `/tmp/${name}` });

group('files, tools and rules', {
  world: files,
  start: onStdio,
  plain: ({ one }) => ({
    toolsets: ['files', 'admin'],
    mounts: ['name', 'path', 'mode', 'allow', 'deny', 'symlinks'].map((name) => mount(name, one)),
    policy: { confirmTier3: false, rules: [denies({ tool: 'other', path: '/tmp/tool' }), denies({ client: 'other', path: '/tmp/client' }), denies({ path: '/other' }),
      denies({ path: '/tmp/effect', effect: 'allow' }), denies({ path: '/tmp/tier', effect: 'allow' }), denies({ path: '/tmp/reason' })] },
  }),
  flipped: ({ one, two }) => ({
    toolsets: ['files', 'admin', 'code'],
    tools: { search: { enabled: false }, read: { resultBytes: 1024 } },
    mounts: [mount('named', one), mount('path', two), mount('mode', one, { mode: 'rw' }), mount('allow', one, { allow: ['d/**'] }),
      mount('deny', one, { deny: ['a.txt'] }), mount('symlinks', one, { symlinks: 'never' })],
    workspace: 'session', workspaceQuotaBytes: 1048576,
    policy: {
      deny: ['^read /tmp/denied$'], confirmTier3: true, agentMayConfirm: true, confirmTtlSeconds: 7,
      rules: [denies({ path: '/tmp/tool' }), denies({ client: 'local*', path: '/tmp/client' }), denies({ path: '/tmp/path' }),
        denies({ path: '/tmp/effect' }), denies({ path: '/tmp/tier', effect: 'allow', tier: 3 }), denies({ path: '/tmp/reason', reason: 'because it is flipped' })],
      filesystem: { readonly: ['/host', '/tmp'], writable: ['/tmp', '/host/mode'], denied: ['/host/path/d'] },
    },
  }),
  looks: {
    toolsets: async (client) => (await toolNames(client)).includes('run_js'),
    'tools.*.enabled': async (client) => (await toolNames(client)).includes('search'),
    'tools.*.resultBytes': async (client) => {
      await client.tool('write', { path: '/tmp/long', content: 'x'.repeat(5000), mode: 'overwrite' });
      return (await outcome(client, 'read', { path: '/tmp/long' })).text.length > 4000;
    },
    'mounts[].name': (client) => works(client, 'read', { path: '/host/name/a.txt' }),
    'mounts[].path': (client) => outcome(client, 'read', { path: '/host/path/a.txt' }),
    'mounts[].mode': (client) => works(client, 'write', { path: '/host/mode/new', content: 'x' }),
    'mounts[].allow': (client) => works(client, 'read', { path: '/host/allow/a.txt' }),
    'mounts[].deny': (client) => works(client, 'read', { path: '/host/deny/a.txt' }),
    'mounts[].symlinks': (client) => works(client, 'read', { path: '/host/symlinks/link' }),
    workspace: (client) => readdirSync(join(client.cwd, '.relay/workspace')),
    workspaceQuotaBytes: (client) => works(client, 'write', { path: '/tmp/large', content: 'x'.repeat(1_500_000) }),
    'policy.deny': readsTmp('denied'),
    'policy.rules[].tool': readsTmp('tool'),
    'policy.rules[].client': readsTmp('client'),
    'policy.rules[].path': readsTmp('path'),
    'policy.rules[].effect': readsTmp('effect'),
    'policy.rules[].tier': readsTmp('tier'),
    'policy.rules[].reason': readsTmp('reason'),
    'policy.confirmTier3': async (client) => (await info(client)).confirm.tier3,
    'policy.agentMayConfirm': async (client) => (await toolNames(client)).includes('operation_confirm'),
    'policy.confirmTtlSeconds': async (client) => (await info(client)).confirm.ttlSeconds,
    'policy.filesystem.readonly': (client) => works(client, 'read', { path: '/out' }),
    'policy.filesystem.writable': (client) => works(client, 'write', { path: '/out/x', content: 'x' }),
    'policy.filesystem.denied': (client) => works(client, 'read', { path: '/host/path/d/b.txt' }),
  },
});

group('the mode', {
  world: files,
  start: onStdio,
  plain: ({ one }) => ({ toolsets: ['files'], mounts: [mount('m', one, { mode: 'rw' })] }),
  flipped: ({ one }) => ({ toolsets: ['files'], mounts: [mount('m', one, { mode: 'rw' })], policy: { mode: 'guarded' } }),
  looks: { 'policy.mode': (client) => works(client, 'write', { path: '/host/m/x', content: 'x' }) },
});

group('what guarded mode lets through', {
  world: files,
  start: onStdio,
  plain: ({ one }) => ({ toolsets: ['files'], mounts: [mount('m', one, { mode: 'rw' })], policy: { mode: 'guarded' } }),
  flipped: ({ one }) => ({ toolsets: ['files'], mounts: [mount('m', one, { mode: 'rw' })], policy: { mode: 'guarded', allow: ['^write /host/m/'] } }),
  looks: { 'policy.allow': (client) => works(client, 'write', { path: '/host/m/x', content: 'x' }) },
});

// A program's words, or the type of what ended it.
const program = async (client, code, extra = {}, tool = 'run_js') => {
  const { structuredContent, content } = await client.tool(tool, { code, ...extra });
  return structuredContent ? { stdout: structuredContent.stdout, error: structuredContent.error?.type ?? null } : content[0].text;
};
const fetched = (url) => (client) => program(client, `try { const r = await fetch(${JSON.stringify(url)}); console.log(r.status, (await r.text()).length) } catch (e) { console.log(e.message) }`);

async function website(t) {
  const server = http.createServer((asked, answer) => {
    if (asked.url === '/there') return answer.writeHead(302, { location: '/' }).end();
    return answer.end(asked.url === '/long' ? 'x'.repeat(5000) : 'short');
  });
  await new Promise((done) => server.listen(0, '0.0.0.0', done));
  atEnd(t, () => { server.closeAllConnections(); server.close(); });
  return { port: server.address().port };
}
const reaching = (network = {}) => ({ allowedDomains: ['localhost', '127.0.0.1', '127.0.0.2'], denyIpLiterals: false, blockPrivateRanges: false, ...network });

group('runs: network, limits, sandboxes', {
  world: website,
  start: (t, config, { port }) => onStdio(t, config).then((client) => Object.assign(client, { port })),
  plain: () => ({ toolsets: ['code', 'admin'], executor: { maxConcurrentRuns: 2 }, policy: { network: reaching() } }),
  flipped: () => ({
    toolsets: ['code', 'admin'], executor: { maxConcurrentRuns: 1, readyChildren: 0, cgroup: 'off', walls: 'reduced' }, sessionTtlMs: 1000,
    signingKeyPath: 'elsewhere/keys', cacheDir: 'elsewhere/capsules',
    policy: {
      network: reaching({ allowedDomains: ['localhost', '127.0.0.2', 'unknown.invalid'], deniedDomains: ['127.0.0.2'], denyIpLiterals: true, maxBodyBytes: 100, maxRedirects: 0 }),
      limits: { timeoutMs: 3000, memMb: 24, stdoutBytes: 100 },
    },
  }),
  looks: {
    'policy.network.allowedDomains': (client) => fetched('http://unknown.invalid/')(client),
    'policy.network.deniedDomains': (client) => fetched(`http://127.0.0.2:${client.port}/`)(client),
    'policy.network.denyIpLiterals': (client) => fetched(`http://127.0.0.1:${client.port}/`)(client),
    'policy.network.maxBodyBytes': (client) => fetched(`http://localhost:${client.port}/long`)(client),
    'policy.network.maxRedirects': (client) => fetched(`http://localhost:${client.port}/there`)(client),
    'policy.limits.timeoutMs': (client) => program(client, 'await new Promise((done) => setTimeout(done, 6000)); console.log("slept")'),
    'policy.limits.memMb': (client) => program(client, 'const a = []; for (let i = 0; i < 60; i++) a.push(new Uint8Array(1 << 20).fill(i)); console.log(a.length)'),
    'policy.limits.stdoutBytes': (client) => program(client, 'console.log("x".repeat(5000))'),
    'executor.maxConcurrentRuns': async (client) => {
      const runs = [1, 2].map(() => program(client, 'for (const end = Date.now() + 1500; Date.now() < end; );'));
      const { running, queued } = await until('two runs', async () => {
        const { execution } = await info(client);
        return execution.running + execution.queued >= 2 && execution;
      });
      await Promise.all(runs);
      return { running, queued };
    },
    'executor.readyChildren': async (client, { is }) => {
      const ready = async () => (await info(client)).execution.runtimes.find(({ language }) => language === 'js').ready;
      return is === 'flipped' ? (await ready()) > 0 : until('a ready child', async () => (await ready()) > 0);
    },
    'executor.walls': async (client) => (await info(client)).execution.wallLevel,
    'executor.cgroup': async (client) => (await info(client)).execution.runtimes.find(({ language }) => language === 'js').cgroup.reason?.includes('executor.cgroup') ?? false,
    sessionTtlMs: async (client, { is }) => {
      await program(client, 'globalThis.kept = 1', { session: 's' });
      if (is === 'flipped') await sleep(2500);
      return program(client, 'console.log(typeof kept)', { session: 's' });
    },
    signingKeyPath: (client) => existsSync(join(client.cwd, 'elsewhere/keys')),
    cacheDir: (client) => existsSync(join(client.cwd, 'elsewhere/capsules')),
  },
});

group('private addresses', {
  world: website,
  start: (t, config, { port }) => onStdio(t, config).then((client) => Object.assign(client, { port })),
  plain: () => ({ toolsets: ['code'], policy: { network: reaching() } }),
  flipped: () => ({ toolsets: ['code'], policy: { network: reaching({ blockPrivateRanges: true }) }, executor: { requireBrowser: false } }),
  looks: { 'policy.network.blockPrivateRanges': (client) => fetched(`http://localhost:${client.port}/`)(client) },
});

group('packages and the browser', {
  start: onStdio,
  plain: () => ({ toolsets: ['code'] }),
  flipped: () => ({ toolsets: ['code'], executor: { requireBrowser: true } }),
  looks: { 'executor.requireBrowser': (client) => outcome(client, 'run_js', { code: '1' }) },
});

// Packages that cannot be had: the run says so instead of doing without. The tests of packages install real ones.
const oneRun = (config, code, language) => async (t) => {
  const { cwd, file } = configured(t, config);
  const { code: exit, stdout, stderr } = await run('relay', ['run', '-c', file, '-e', code, ...(language ? ['--language', language] : [])], { cwd });
  return { exit, stdout, stderr: stderr.split('\n').filter((line) => line && !line.startsWith('{')) };
};
const commandLine = {
  language: [{}, { language: 'py' }, 'print(1)'],
  'npm.dependencies': [{}, { npm: { dependencies: { 'no name': '1' } } }, 'console.log(1)', 'js'],
  'npm.lockfile': [{}, { npm: { lockfile: 'nowhere.json' } }, 'console.log(1)', 'js'],
  'pip.requirements': [{}, { pip: { requirements: ['--no name'] } }, 'print(1)', 'py'],
  'pip.wheelUrls': [{}, { pip: { wheelUrls: ['http://127.0.0.1:9/x-1.0-py3-none-any.whl'] } }, 'print(1)', 'py'],
};
for (const [key, [plain, flipped, code, language]] of Object.entries(commandLine)) {
  test(`relay run: ${key}`, async (t) => {
    assert.notDeepEqual(await oneRun(flipped, code, language)(t), await oneRun(plain, code, language)(t));
    shown.add(key);
  });
}

const auditOf = (client, path = join(stateOf(client.cwd), 'audit.jsonl')) => (existsSync(path) ? readFileSync(path, 'utf8').split('\n')[0] : null);
group('the audit log', {
  start: async (t, config) => { const client = await onStdio(t, config); await client.tool('read', { path: '/tmp' }); return client; },
  plain: () => ({ toolsets: ['files'] }),
  flipped: () => ({ toolsets: ['files'], audit: { path: 'log/audit.cef', format: 'cef', chain: false } }),
  looks: {
    'audit.path': (client) => auditOf(client) !== null,
    'audit.format': (client) => (auditOf(client) ?? auditOf(client, join(client.cwd, 'log/audit.cef'))).startsWith('CEF:'),
  },
});
group('the chain of the audit log', {
  start: async (t, config) => { const client = await onStdio(t, config); await client.tool('read', { path: '/tmp' }); return client; },
  plain: () => ({ toolsets: ['files'] }),
  flipped: () => ({ toolsets: ['files'], audit: { chain: false } }),
  looks: { 'audit.chain': (client) => Object.keys(JSON.parse(auditOf(client))).sort() },
});
group('an audit log that cannot be written', {
  start: async (t, config) => {
    const { cwd, file } = configured(t, config);
    mkdirSync(join(cwd, 'directory'));
    return run('relay', ['stdio', '-c', file], { cwd, seconds: 20 });
  },
  plain: () => ({ toolsets: ['files'], audit: { path: 'directory' } }),
  flipped: () => ({ toolsets: ['files'], audit: { path: 'directory', onFailure: 'refuse' } }),
  looks: { 'audit.onFailure': ({ code }) => code },
});

// An HTTP server: who may reach it, and what it says in its log.
const get = (server, path, headers = {}) => request(`${server.url}${path}`, { headers }).then(({ status, headers: { 'access-control-allow-origin': origin, 'content-type': type } }) => ({ status, origin, type }), (error) => error.code);
// How many of five connections are served at once.
async function servedAtOnce(server) {
  const sockets = await Promise.all(Array.from({ length: 5 }, () => new Promise((done) => {
    const socket = connectTcp(server.port, '127.0.0.1');
    let heard = '';
    socket.on('data', (bytes) => { heard += bytes; done({ socket, heard }); }).on('error', () => done({ socket, heard })).on('close', () => done({ socket, heard }));
    socket.on('connect', () => socket.write(`GET /healthz HTTP/1.1\r\nhost: 127.0.0.1:${server.port}\r\n\r\n`));
    setTimeout(() => done({ socket, heard }), 2000);
  })));
  for (const { socket } of sockets) socket.destroy();
  return sockets.filter(({ heard }) => heard.startsWith('HTTP/1.1 2')).length;
}
for (const [title, key, limits] of [['connections in all', 'server.maxConnections', { maxConnections: 2 }], ['connections of one address', 'server.maxConnectionsPerAddress', { maxConnectionsPerAddress: 2 }]])
  group(title, {
    start: (t, config) => serve(t, { config }),
    plain: () => ({ toolsets: ['files'] }),
    flipped: () => ({ toolsets: ['files'], server: limits }),
    looks: { [key]: (server) => servedAtOnce(server) },
  });
group('the HTTP server', {
  start: (t, config) => serve(t, { config, flags: ['--no-open'] }),
  plain: () => ({ toolsets: ['files'] }),
  flipped: () => ({ toolsets: ['files'], server: { ui: false, allowedHosts: ['relay.example'], node: 'left', stateKeyPath: 'other/state.key' }, cors: { allowedOrigins: ['https://page.example'] } }),
  looks: {
    'server.ui': (server) => get(server, '/'),
    'server.allowedHosts': (server) => get(server, '/healthz', { host: 'relay.example' }),
    'cors.allowedOrigins': (server) => get(server, '/healthz', { origin: 'https://page.example' }),
    'server.node': async (server) => (await initialize(server.endpoint)).startsWith('left-'),
    'server.stateKeyPath': (server) => existsSync(join(server.cwd, 'other/state.key')),
  },
});

group('authentication', {
  start: (t, config) => serve(t, { config }),
  plain: () => ({ toolsets: ['files'] }),
  flipped: () => ({ toolsets: ['files'], auth: { mode: 'token', tokenPath: 'other/token' } }),
  looks: {
    'auth.mode': async (server) => (await request(server.endpoint, { method: 'POST', body: '{}', headers: { 'content-type': 'application/json' } })).status,
    'auth.tokenPath': (server) => existsSync(join(server.cwd, 'other/token')),
  },
});

// Without flags, so that the configuration decides.
async function bare(t, config) {
  const { cwd, file } = configured(t, config);
  const server = start(t, 'relay', ['serve', '-c', file, '--no-open'], { cwd });
  await until('the server to listen', () => server.stderr.includes('listening') || server.ended, { seconds: 60 });
  return server;
}
group('where it listens and how it logs', {
  world: async () => ({ ports: [await freePort(), await freePort()] }),
  start: bare,
  plain: ({ ports }) => ({ toolsets: ['files'], server: { port: ports[0] } }),
  flipped: ({ ports }) => ({ toolsets: ['files'], server: { port: ports[1], bind: '127.0.0.2' }, log: { format: 'text' } }),
  looks: {
    'server.port': (_, { ports }) => request(`http://127.0.0.1:${ports[0]}/healthz`).then(({ status }) => status, () => 'nobody'),
    'server.bind': (_, { ports, is }) => request(`http://127.0.0.2:${ports[is === 'flipped' ? 1 : 0]}/healthz`).then(({ status }) => status, () => 'nobody'),
    'log.format': (server) => server.stderr.startsWith('{'),
  },
});
group('the browser', {
  world: (t) => {
    const mark = join(temporaryDirectory(t), 'opened');
    writeFileSync(`${mark}.sh`, `#!/bin/sh\necho "$1" > '${mark}'\n`, { mode: 0o755 });
    return { mark };
  },
  start: async (t, config, { mark }) => {
    const { cwd, file } = configured(t, config);
    const server = start(t, 'relay', ['serve', '-c', file, '--port', '0'], { cwd, env: { DISPLAY: ':99', BROWSER: `${mark}.sh`, HOME: cwd, XDG_DATA_DIRS: cwd } });
    await server.waitForLog('listening', { seconds: 60 });
    return server;
  },
  plain: () => ({ toolsets: ['files'] }),
  flipped: () => ({ toolsets: ['files'], server: { open: false } }),
  looks: { 'server.open': (_, { mark, is }) => (is === 'plain' ? until('the browser', () => existsSync(mark)) : existsSync(mark)) },
});
group('how much it logs', {
  start: async (t, config) => {
    const server = await serve(t, { config });
    const client = await another(t, server.endpoint);
    await client.tool('read', { path: '/tmp' });
    return server;
  },
  plain: () => ({ toolsets: ['files'] }),
  flipped: () => ({ toolsets: ['files'], log: { level: 'debug' } }),
  // The line of the call is written beside its answer: the flipped server is waited for, the plain one is asked once.
  looks: { 'log.level': async (server, { is }) => { if (is === 'flipped') await until('a debug line', () => server.stderr.includes('"debug"')); return server.stderr.includes('"debug"'); } },
});

// Upstream servers: one entry for each key, named after it.
const upstream = (name, more = {}) => ({ name, command: node, args: [facts], expose: 'tools', ...more });
const fact = (name, pick, args = {}) => async (client) => { const seen = await factsOf(client, `${name}__facts`, args); return seen === 'refused' ? seen : pick(seen); };
const listed = (name) => async (client) => (await toolNames(client)).filter((tool) => tool.startsWith(`${name}__`));

group('upstream servers', {
  world: async (t) => {
    const dir = temporaryDirectory(t);
    mkdirSync(join(dir, 'data'));
    writeFileSync(join(dir, 'data/file'), 'x');
    writeFileSync(join(dir, 'secret'), 'the-secret-answer');
    const web = await listen();
    atEnd(t, web.close);
    return { dir, url: web.url };
  },
  start: async (t, config) => {
    const server = await serve(t, { config });
    return Object.assign(await another(t, server.endpoint, 'legacy'), { server, second: await another(t, server.endpoint, 'legacy') });
  },
  plain: ({ dir, url }) => ({
    toolsets: ['files', 'code'],
    policy: { rules: [{ effect: 'deny', host: 'other' }, { effect: 'deny', command: 'other' }] },
    mcps: [upstream('name'), upstream('command'), upstream('args'), upstream('env'), upstream('cwd'), upstream('expose'), upstream('enabled'), upstream('era'), upstream('sharing'),
      upstream('autostart', { expose: 'code', env: { MARK: join(dir, 'mark') } }), upstream('description', { expose: 'both' }),
      upstream('startTimeoutMs', { env: { SLOW_START: '1500' } }), upstream('callTimeoutMs'), upstream('idleStopMs'), upstream('maxConcurrent'), upstream('callsPerMinute'),
      upstream('allow'), upstream('deny'), upstream('resultBytes'), upstream('tiers'),
      upstream('secret', { env: { ANSWER: `\${file:${join(dir, 'secret')}}` } }),
      { name: 'transport', endpoint: `${url}/a`, expose: 'tools' }, { name: 'endpoint', endpoint: `${url}/a`, expose: 'tools' },
      { name: 'url', url: `${url}/a`, expose: 'tools' }, { name: 'headers', url: `${url}/a`, expose: 'tools' }],
  }),
  flipped: ({ dir, url }) => ({
    toolsets: ['files', 'code'],
    policy: { requireServers: true, redactSecrets: false, rules: [{ effect: 'deny', host: 'h.example' }, { effect: 'deny', command: 'rm *' }] },
    mcps: [upstream('renamed'), upstream('command', { command: '/bin/false' }), upstream('args', { args: [facts, 'more'] }), upstream('env', { env: { ANSWER: '42' } }), upstream('cwd', { cwd: join(dir, 'data') }),
      upstream('expose', { expose: 'none' }), upstream('enabled', { enabled: false }), upstream('era', { era: 'legacy' }), upstream('sharing', { sharing: 'session' }),
      upstream('autostart', { expose: 'code', env: { MARK: join(dir, 'mark') }, autostart: true }), upstream('description', { expose: 'both', description: 'Says what it sees' }),
      upstream('startTimeoutMs', { env: { SLOW_START: '1500' }, startTimeoutMs: 200 }), upstream('callTimeoutMs', { callTimeoutMs: 150 }), upstream('idleStopMs', { idleStopMs: 200 }),
      upstream('maxConcurrent', { maxConcurrent: 1 }), upstream('callsPerMinute', { callsPerMinute: 1 }), upstream('allow', { allow: ['fact*'] }), upstream('deny', { deny: ['pause'] }), upstream('resultBytes', { resultBytes: 50 }), upstream('tiers', { tiers: { facts: 3 } }),
      upstream('secret', { env: { ANSWER: `\${file:${join(dir, 'secret')}}` } }),
      { name: 'transport', endpoint: `${url}/a`, transport: 'sse', expose: 'tools' }, { name: 'endpoint', endpoint: `${url}/b`, expose: 'tools' },
      { name: 'url', url: `${url}/b`, expose: 'tools' }, { name: 'headers', url: `${url}/a`, headers: { 'x-fact': 'yes' }, expose: 'tools' }],
  }),
  looks: {
    'mcps[].autostart': async (_, { dir, is }) => {
      const started = () => existsSync(join(dir, 'mark'));
      return is === 'flipped' ? until('the server that starts by itself', started) : started();
    },
    'mcps[].name': listed('name'),
    'mcps[].command': (client) => works(client, 'command__facts'),
    'mcps[].args': fact('args', ({ argv }) => argv),
    'mcps[].env': fact('env', ({ answer }) => answer),
    'mcps[].cwd': fact('cwd', ({ cwd }) => cwd.endsWith('/data')),
    'mcps[].expose': listed('expose'),
    'mcps[].enabled': listed('enabled'),
    'mcps[].era': fact('era', ({ first }) => first),
    'mcps[].sharing': async (client) => (await factsOf(client, 'sharing__facts')).pid === (await factsOf(client.second, 'sharing__facts')).pid,
    'mcps[].description': async ({ server }) => (await run('relay', ['mcp', 'list', '--json', '-c', server.file], { cwd: server.cwd })).stdout.includes('Says what it sees'),
    'mcps[].startTimeoutMs': (client) => works(client, 'startTimeoutMs__facts'),
    'mcps[].callTimeoutMs': (client) => works(client, 'callTimeoutMs__pause'),
    'mcps[].idleStopMs': async (client, { is }) => {
      const { pid } = await factsOf(client, 'idleStopMs__facts');
      if (is === 'flipped') await until('the idle server to stop', () => !existsSync(`/proc/${pid}`));
      return (await factsOf(client, 'idleStopMs__facts')).pid === pid;
    },
    'mcps[].maxConcurrent': async (client) => Math.max(...(await Promise.all([1, 2, 3].map(() => factsOf(client, 'maxConcurrent__pause')))).map(({ peak }) => peak)),
    'mcps[].callsPerMinute': async (client) => { await works(client, 'callsPerMinute__facts'); return works(client, 'callsPerMinute__facts'); },
    'mcps[].allow': listed('allow'),
    'mcps[].deny': listed('deny'),
    'mcps[].resultBytes': async (client) => (await client.tool('resultBytes__facts')).content[0].text.length <= 50,
    'mcps[].tiers': (client) => works(client, 'tiers__facts'),
    'mcps[].transport': (client) => works(client, 'transport__facts'),
    'mcps[].endpoint': fact('endpoint', ({ path }) => path),
    'mcps[].url': fact('url', ({ path }) => path),
    'mcps[].headers': fact('headers', ({ header }) => header),
    'policy.rules[].host': (client) => works(client, 'args__facts', { host: 'h.example' }),
    'policy.rules[].command': (client) => works(client, 'args__facts', { command: 'rm x' }),
    'policy.redactSecrets': fact('secret', ({ answer }) => answer),
    'policy.requireServers': (client) => program(client, "try { const r = await mcp.description.facts({}); console.log(typeof r) } catch (e) { console.log('threw') }"),
  },
});

group('the sandbox of an upstream server', {
  world: (t) => {
    const dir = temporaryDirectory(t);
    for (const name of ['read', 'write']) { mkdirSync(join(dir, name)); writeFileSync(join(dir, name, 'file'), 'x'); }
    return { dir };
  },
  start: onStdio,
  plain: ({ dir }) => ({ toolsets: ['files'], mcps: [upstream('sandbox'), ...['read', 'write', 'hosts'].map((name) => upstream(name, { cwd: '/', sandbox: { read: seenByAll } }))].map((one) => ({ ...one, env: { ...one.env, DIR: dir } })) }),
  flipped: ({ dir }) => ({ toolsets: ['files'], mcps: [upstream('sandbox', { cwd: '/', sandbox: { read: seenByAll } }),
    upstream('read', { cwd: '/', sandbox: { read: [...seenByAll, join(dir, 'read')] } }), upstream('write', { cwd: '/', sandbox: { read: seenByAll, write: [join(dir, 'write')] } }),
    upstream('hosts', { cwd: '/', sandbox: { read: seenByAll, hosts: ['h.example'] } })] }),
  looks: {
    'mcps[].sandbox': (client, { dir }) => fact('sandbox', ({ sees }) => sees, { look: join(dir, 'read/file') })(client),
    'mcps[].sandbox.read': (client, { dir }) => fact('read', ({ sees }) => sees, { look: join(dir, 'read/file') })(client),
    'mcps[].sandbox.write': (client, { dir }) => fact('write', ({ writes }) => writes, { write: join(dir, 'write/new') })(client),
    'mcps[].sandbox.hosts': fact('hosts', ({ proxy }) => proxy),
  },
});

group('names without a prefix, and lists that do not wait', {
  start: onStdio,
  plain: () => ({ toolsets: ['files'], mcps: [upstream('only')] }),
  flipped: () => ({ toolsets: ['files'], gateway: { prefix: 'none' }, mcps: [upstream('only')] }),
  looks: { 'gateway.prefix': toolNames },
});
group('lists that do not wait', {
  start: onStdio,
  plain: () => ({ toolsets: ['files'], mcps: [upstream('slow', { env: { SLOW_START: '2500' } })] }),
  flipped: () => ({ toolsets: ['files'], gateway: { listTimeoutMs: 100 }, mcps: [upstream('slow', { env: { SLOW_START: '2500' } })] }),
  looks: { 'gateway.listTimeoutMs': toolNames },
});

// Keys whose effect takes a machine, a certificate or a package registry of its own: a test beside it flips them.
const elsewhere = new Map([
  ['server.tlsCert', ['tests/cli/doors.test.mjs', '--tls-cert']], ['server.tlsKey', ['tests/cli/doors.test.mjs', '--tls-key']],
  ['executor.totalMemMb', ['tests/cli/walls.test.mjs', 'totalMemMb']],
  ...Object.entries({ memMb: 'memory_bytes', pids: 'processes', cpus: 'cpu_percent', cpuSeconds: 'cpu_time', openFiles: 'open_files', fileMb: 'file_bytes', tmpMb: 'scratch_bytes', tmpFiles: 'scratch_files' })
    .map(([key, member]) => [`mcps[].sandbox.limits.${key}`, ['src/upstream/cage_limits_test.cc', `limits().${member}`]]),
  ['mcps[].sandbox.user', ['src/upstream/cage_limits_test.cc', 'CageUser::own']],
  ['npm.sourcemaps', ['tests/capsules/layers.test.mjs', 'sourcemaps: true']], ['pip.pyodideMirror', ['tests/capsules/pip.test.mjs', 'pyodideMirror: mirror']],
  ['npm.hosts', ['tests/attack/packages.test.mjs', 'npm: { hosts: [']], ['pip.hosts', ['tests/attack/packages.test.mjs', 'pip: { hosts: [']],
]);
test('every key of the schema is flipped', () => {
  const known = [...keysOf(schema)].filter((key) => key !== '$schema');
  for (const [key, [file, words]] of elsewhere) assert.ok(readFileSync(join(root, file), 'utf8').includes(words), `${file} flips ${key}`);
  assert.deepEqual(known.filter((key) => !shown.has(key) && !elsewhere.has(key)), [], 'keys without a look, or whose look failed');
  assert.deepEqual([...shown, ...elsewhere.keys()].filter((key) => !known.includes(key)), [], 'looks at keys that do not exist');
});

// The optional members of an argument and of what lies in it, such as policy.limits.memMb.
function* optionalOf(schema, path = '') {
  for (const [name, parameter] of Object.entries(schema.properties ?? {})) {
    if (!schema.required?.includes(name)) yield path + name;
    yield* optionalOf(parameter, `${path}${name}.`);
  }
}

// Arguments: a call without the argument, and one with it. `with` may change the base as well, where the argument needs company.
const png = 'iVBORw0KGgo=';
const twice = 'alpha\nBeta\nalpha beta\n';
const narrowed = (block, members) => ({ policy: { [block]: members } });
const reading = "import fs from 'node:fs'; console.log(fs.readFileSync('/tmp/t', 'utf8'))";
const writing = "import fs from 'node:fs'; fs.writeFileSync('/tmp/w', 'x'); console.log('written')";
// The port of the test's website comes with the environment: it is not known before the test starts.
const fetching = (url) => `const url = new URL(${JSON.stringify(url)}); url.port = process.env.PORT; try { const r = await fetch(url); console.log(r.status, (await r.text()).length) } catch (e) { console.log(e.message) }`;
const argumentLooks = {
  run_js: {
    stdin: [{ code: "import fs from 'node:fs'; console.log(fs.readFileSync(0, 'utf8'))" }, { stdin: 'in' }], args: [{ code: 'console.log(process.argv.slice(2))' }, { args: ['a'] }],
    env: [{ code: 'console.log(process.env.A)' }, { env: { A: '1' } }], cwd: [{ code: 'console.log(process.cwd())' }, { cwd: '/tmp' }],
    npm: [{ code: '1' }, { npm: { dependencies: { 'not a name': '1' } } }], session: [{ code: 'globalThis.n = (globalThis.n ?? 0) + 1; console.log(n)' }, { session: 's' }, 2],
    reset: [{ code: 'globalThis.n = (globalThis.n ?? 0) + 1; console.log(n)', session: 'r' }, { reset: true }, 2], timeoutMs: [{ code: 'await new Promise((d) => setTimeout(d, 1500))' }, { timeoutMs: 300 }],
    policy: [{ code: 'console.log("x".repeat(500))' }, { policy: { limits: { stdoutBytes: 10 } } }], servers: [{ code: '1' }, { servers: ['nobody'] }],
    'npm.dependencies': [{ code: '1' }, { npm: { dependencies: { 'not a name': '1' } } }], 'npm.lockfile': [{ code: '1' }, { npm: { lockfile: '{}' } }],
    'policy.network': [{ code: fetching('http://localhost/') }, narrowed('network', { allowedDomains: [] })],
    'policy.network.allowedDomains': [{ code: fetching('http://localhost/') }, narrowed('network', { allowedDomains: ['127.0.0.1'] })],
    'policy.network.deniedDomains': [{ code: fetching('http://localhost/') }, narrowed('network', { deniedDomains: ['localhost'] })],
    'policy.network.denyIpLiterals': [{ code: fetching('http://127.0.0.1/') }, narrowed('network', { denyIpLiterals: true })],
    'policy.network.blockPrivateRanges': [{ code: fetching('http://localhost/') }, narrowed('network', { blockPrivateRanges: true })],
    'policy.network.maxBodyBytes': [{ code: fetching('http://localhost/long') }, narrowed('network', { maxBodyBytes: 100 })],
    'policy.network.maxRedirects': [{ code: fetching('http://localhost/there') }, narrowed('network', { maxRedirects: 0 })],
    'policy.filesystem': [{ code: reading }, narrowed('filesystem', { denied: ['/tmp'] })],
    'policy.filesystem.readonly': [{ code: reading, ...narrowed('filesystem', { writable: ['/out'] }) }, narrowed('filesystem', { writable: ['/out'], readonly: ['/out'] })],
    'policy.filesystem.writable': [{ code: writing }, narrowed('filesystem', { writable: ['/out'] })],
    'policy.filesystem.denied': [{ code: reading }, narrowed('filesystem', { denied: ['/tmp/t'] })],
    'policy.limits': [{ code: 'console.log("x".repeat(500))' }, narrowed('limits', { stdoutBytes: 100 })],
    'policy.limits.timeoutMs': [{ code: 'await new Promise((d) => setTimeout(d, 1500))' }, narrowed('limits', { timeoutMs: 300 })],
    'policy.limits.memMb': [{ code: 'const a = []; for (let i = 0; i < 60; i++) a.push(new Uint8Array(1 << 20).fill(i)); console.log(a.length)' }, narrowed('limits', { memMb: 24 })],
    'policy.limits.stdoutBytes': [{ code: 'console.log("x".repeat(500))' }, narrowed('limits', { stdoutBytes: 10 })],
  },
  run_py: {
    'pip.requirements': [{ code: '1' }, { pip: { requirements: ['-r x'] } }], 'pip.wheelUrls': [{ code: '1' }, { pip: { wheelUrls: ['http://127.0.0.1:9/x-1.0-py3-none-any.whl'] } }],
    stdin: [{ code: 'import sys; print(sys.stdin.read())' }, { stdin: 'in' }], args: [{ code: 'import sys; print(sys.argv[1:])' }, { args: ['a'] }],
    env: [{ code: 'import os; print(os.environ.get("A"))' }, { env: { A: '1' } }], cwd: [{ code: 'import os; print(os.getcwd())' }, { cwd: '/tmp' }],
    pip: [{ code: '1' }, { pip: { requirements: ['-r x'] } }], session: [{ code: 'n = globals().get("n", 0) + 1; print(n)' }, { session: 's' }, 2],
    reset: [{ code: 'n = globals().get("n", 0) + 1; print(n)', session: 'r' }, { reset: true }, 2], timeoutMs: [{ code: 'while True: pass', policy: { limits: { timeoutMs: 2500 } } }, { timeoutMs: 300 }],
    policy: [{ code: 'print("x" * 500)' }, { policy: { limits: { stdoutBytes: 10 } } }], servers: [{ code: '1' }, { servers: ['nobody'] }],
  },
  read: {
    encoding: [{ path: '/tmp/t' }, { encoding: 'base64' }], maxBytes: [{ path: '/tmp/t' }, { maxBytes: 3 }], offset: [{ path: '/tmp/t' }, { offset: 3 }],
    line: [{ path: '/tmp/t' }, { line: 2 }], lines: [{ path: '/tmp/t' }, { lines: 1 }], stat: [{ path: '/tmp/t' }, { stat: true }], depth: [{ path: '/' }, { depth: 2 }],
  },
  write: {
    encoding: [{ path: '/tmp/w', content: png, mode: 'overwrite' }, { encoding: 'base64' }], mode: [{ path: '/tmp/t', content: 'x' }, { mode: 'append' }],
    parents: [{ path: '/tmp/deep/er/w', content: 'x' }, { parents: true }],
  },
  edit: { count: [{ path: '/tmp/t', oldText: 'alpha', newText: 'gamma' }, { count: 3 }] },  // both are refused: the others need the file
  search: {
    pattern: [{ filePattern: '*' }, { pattern: 'Beta' }],
    paths: [{ pattern: 'alpha' }, { paths: ['/out'] }], filePattern: [{ pattern: 'alpha' }, { filePattern: '*.md' }], caseSensitive: [{ pattern: 'ALPHA' }, { caseSensitive: false }],
    literal: [{ pattern: 'al.ha' }, { literal: true }], maxResults: [{ pattern: 'alpha' }, { maxResults: 1 }], context: [{ pattern: 'Beta' }, { context: 1 }],
    includeIgnored: [{ pattern: 'hidden' }, { includeIgnored: true }], filesOnly: [{ pattern: 'alpha' }, { filesOnly: true }],
  },
  audit_tail: { lines: [{ tool: 'read' }, { lines: 1 }], tool: [{ lines: 5 }, { tool: 'search' }], tier: [{ lines: 5 }, { tier: 2 }], denied: [{ lines: 5 }, { denied: true }] },
};

test('every optional argument of every tool makes a difference', async (t) => {
  const { port } = await website(t);
  const client = await onStdio(t, { toolsets: ['code', 'files', 'admin'], policy: { network: reaching() } });
  await client.done('write', { path: '/tmp/t', content: twice });
  await client.done('write', { path: '/tmp/.h', content: 'hidden' });
  const { tools } = await client.call('tools/list');
  const seen = async (name, args, times = 1) => {
    let last;
    for (let i = 0; i < times; i += 1) {
      const { content, structuredContent, isError } = await client.tool(name, args);
      const { durationMs, modified, ...facts } = structuredContent ?? {};
      last = { isError, facts, text: content.map(({ text }) => text).join('\n').replace(/run_[0-9a-f]+|\d+ ms/g, '') };
    }
    return last;
  };
  const missing = [];
  for (const { name, inputSchema } of tools) {
    for (const argument of optionalOf(inputSchema)) {
      const look = argumentLooks[name]?.[argument];
      if (!look) { missing.push(`${name}.${argument}`); continue; }
      const [given, extra, times] = look;
      const base = given.code?.includes('process.env.PORT') ? { ...given, env: { PORT: String(port) } } : given;
      const without = await seen(name, base, times);
      assert.notDeepEqual(await seen(name, { ...base, ...extra }, times), without, `${name}: ${argument} has no effect: ${JSON.stringify(without).slice(0, 300)}`);
    }
  }
  assert.deepEqual(missing, [], 'arguments without a look');
});

// tools.<name> in the configuration knows these names without asking a server.
test('every tool can be switched off by its name', async (t) => {
  const toolsets = ['code', 'files', 'admin'];
  const names = await toolNames(await onStdio(t, { toolsets }));
  const client = await onStdio(t, { toolsets, tools: Object.fromEntries(names.map((name) => [name, { enabled: false }])) });
  assert.deepEqual(await toolNames(client), []);
});
