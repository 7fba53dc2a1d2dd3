// Clients against each other: what one keeps between its calls, another cannot see, change or end. Nobody is
// authenticated here, so all have the same principal.
import assert from 'node:assert/strict';
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { callTool, initialize, legacyPost, messagesOf } from '../mcp.mjs';
import { serve, until } from '../program.mjs';
import { connect } from '../files/clients.mjs';

const code = (config = {}) => ({ config: { toolsets: ['code', 'files'], ...config } });
let ids = 100;
async function call(server, session, name, args) {
  const answer = await legacyPost(server.endpoint, { id: ++ids, method: 'tools/call', params: { name, arguments: args } }, { session });
  return messagesOf(answer).at(-1).result;
}

test('a named session belongs to the MCP session that made it', async (t) => {
  const server = await serve(t, code());
  const [ann, bob] = [await initialize(server.endpoint), await initialize(server.endpoint)];
  await call(server, ann, 'run_js', { code: 'globalThis.secret = "of ann"', session: 'work' });
  const seen = await call(server, bob, 'run_js', { code: 'console.log(typeof secret)', session: 'work' });
  assert.equal(seen.structuredContent.stdout, 'undefined\n');
  const own = await call(server, ann, 'run_js', { code: 'console.log(secret)', session: 'work' });
  assert.equal(own.structuredContent.stdout, 'of ann\n');
  assert.equal(own.structuredContent.session, undefined, 'ann needs no other name');
});

test('a client without a session gets a key with its first run, and only the key opens it', async (t) => {
  const server = await serve(t, code());
  const first = await callTool(server.endpoint, 'run_js', { code: 'globalThis.secret = 1', session: 'work' });
  const key = first.structuredContent.session;
  assert.match(key, /^work-[a-z2-7]{4}-[0-9a-f]{24}$/);
  assert.ok(first.content[0].text.includes(`pass session "${key}"`), first.content[0].text);
  const again = await callTool(server.endpoint, 'run_js', { code: 'console.log(secret)', session: key });
  assert.equal(again.structuredContent.stdout, '1\n');
  assert.equal(again.structuredContent.session, undefined);
  const other = await callTool(server.endpoint, 'run_js', { code: 'console.log(typeof secret)', session: 'work' });
  assert.equal(other.structuredContent.stdout, 'undefined\n');
  assert.notEqual(other.structuredContent.session, key);
  const guessed = await callTool(server.endpoint, 'run_js', { code: 'console.log(typeof secret)', session: `work-${'0'.repeat(24)}` });
  assert.equal(guessed.structuredContent.stdout, 'undefined\n');
  assert.match(guessed.structuredContent.session, /^work-[a-z2-7]{4}-[0-9a-f]{24}$/);
});

test('memory and saved tools are not shared, also where /tmp is', async (t) => {
  const server = await serve(t, code());
  const [ann, bob] = [await initialize(server.endpoint), await initialize(server.endpoint)];
  const save = 'from mcp import runtime\nruntime.save_memory("k", "of ann")\ndef tool():\n    return 1\nruntime.save_tool(tool)\nopen("/tmp/shared", "w").write("x")';
  assert.equal((await call(server, ann, 'run_py', { code: save })).isError, undefined);
  const look = 'from mcp import runtime\nimport os\nprint(runtime.load_memory("k"), os.path.exists("/tmp/shared"))\ntry:\n    import user_tools\n    print("planted")\nexcept ImportError:\n    print("none")';
  const run = async (session) => (await call(server, session, 'run_py', { code: look })).structuredContent.stdout;
  assert.equal(await run(ann), 'of ann True\nplanted\n');
  assert.equal(await run(bob), 'None True\nnone\n');
  assert.equal((await callTool(server.endpoint, 'run_py', { code: look })).structuredContent.stdout, 'None True\nnone\n');
  assert.equal((await call(server, bob, 'read', { path: '/tmp/.relay/user_tools.py' })).isError, true);
  assert.equal((await callTool(server.endpoint, 'search', { query: 'def tool', path: '/tmp' })).content[0].text.includes('def tool'), false);
});

test('two stdio clients of one project share no session and no memory', async (t) => {
  const first = await connect(t, 'modern stdio', code());
  const second = await connect(t, 'modern stdio', { beside: first });
  await first.done('run_py', { code: 'from mcp import runtime\nruntime.save_memory("k", 1)\nx = 1', session: 's' });
  assert.equal((await first.done('run_py', { code: 'print(x)', session: 's' })).stdout, '1\n');
  const seen = await second.done('run_py', { code: 'from mcp import runtime\nprint(runtime.load_memory("k"))' });
  assert.equal(seen.stdout, 'None\n');
});

test('with a workspace for each session a client that nothing tells from others has none', async (t) => {
  const server = await serve(t, code({ workspace: 'session' }));
  const written = await callTool(server.endpoint, 'write', { path: '/tmp/x', content: 'x' });
  assert.equal(written.isError, true);
  assert.match(written.content[0].text, /needs an MCP session/);
  const run = async (args) => (await callTool(server.endpoint, 'run_js', args)).structuredContent;
  await run({ code: 'import fs from "node:fs"; fs.writeFileSync("/tmp/x", "x")' });
  const look = 'import fs from "node:fs"; console.log(fs.existsSync("/tmp/x"))';
  assert.equal((await run({ code: look })).stdout, 'false\n', 'a run alone leaves nothing');
  const { session } = await run({ code: 'import fs from "node:fs"; fs.writeFileSync("/tmp/x", "x")', session: 'w' });
  assert.equal((await run({ code: look, session })).stdout, 'true\n');
  assert.equal((await run({ code: look, session: 'w' })).stdout, 'false\n');
});

test('files of a guest session without a client go with the session', async (t) => {
  const server = await serve(t, code({ workspace: 'session', sessionTtlMs: 1000 }));
  const workspaces = () => readdirSync(join(server.cwd, '.relay/workspace')).filter((name) => name.startsWith('session-'));
  const keep = { code: 'import fs from "node:fs"; fs.writeFileSync("/tmp/x", "x")', session: 'w' };
  const { session } = (await callTool(server.endpoint, 'run_js', keep)).structuredContent;
  const kept = workspaces();
  assert.equal(kept.length, 1);
  // Another session looks which ones have been idle for too long.
  let other = 'other';
  await until('the directory to go with its session', async () => {
    const ran = (await callTool(server.endpoint, 'run_js', { code: '1', session: other })).structuredContent;
    other = ran.session ?? other;
    return !workspaces().includes(kept[0]);
  }, { every: 200 });
  const again = (await callTool(server.endpoint, 'run_js', { code: 'import fs from "node:fs"; console.log(fs.existsSync("/tmp/x"))', session })).structuredContent;
  assert.equal(again.stdout, 'false\n');
  assert.notEqual(again.session, undefined, 'the key is of no use any more');
  await server.stop();
});

test("1,100 initialize calls end nobody's session", async (t) => {
  const server = await serve(t, code());
  const used = await initialize(server.endpoint);
  await call(server, used, 'run_js', { code: 'globalThis.kept = 1', session: 's' });
  const idle = await initialize(server.endpoint);
  for (let i = 0; i < 1100; i += 20)
    await Promise.all(Array.from({ length: 20 }, () => legacyPost(server.endpoint, { id: 1, method: 'initialize', params: { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'flood', version: '1' } } })));
  const kept = await call(server, used, 'run_js', { code: 'console.log(kept)', session: 's' });
  assert.equal(kept.structuredContent.stdout, '1\n');
  assert.ok(await call(server, idle, 'run_js', { code: '1' }), 'one that was only opened before the flood works');
  await until('a new client gets in', async () => Boolean(await initialize(server.endpoint)));
});
