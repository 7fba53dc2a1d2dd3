// A server that asks at every moment of a call: what a client cannot answer is refused to the server, and the call goes on.
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { test } from 'node:test';
import { callTool, initialize, legacyPost, messagesOf } from '../mcp.mjs';
import { serve, start, until } from '../program.mjs';

const fixture = join(import.meta.dirname, 'fixtures', 'asking_server.py');
const stdio = (...options) => ({ name: 'asking', command: 'python3', args: [fixture, ...options], expose: 'tools' });

async function http(t) {
  const server = start(t, '/usr/bin/python3', [fixture, '--http']);
  await until('the port', () => /^\d+\n/.test(server.stdout));
  return { name: 'asking', transport: 'http', endpoint: `http://127.0.0.1:${parseInt(server.stdout, 10)}/mcp`, expose: 'tools' };
}

const text = (result) => result.content.map((piece) => piece.text).join('');
const front = async (t, upstream) => serve(t, { config: { toolsets: [], mcps: [upstream] } });

for (const [transport, upstream] of Object.entries({ stdio: () => stdio(), 'streamable HTTP': http })) {
  test(`questions at every moment fail no call over ${transport}`, async (t) => {
    const server = await front(t, await upstream(t));
    const session = await initialize(server.endpoint);
    const legacy = async (name, args) => {
      const answer = await legacyPost(server.endpoint, { id: 5, method: 'tools/call', params: { name, arguments: args } }, { session });
      return messagesOf(answer).find((message) => message.id === 5).result;
    };
    const modern = (name, args) => callTool(server.endpoint, name, args);
    for (const call of [modern, legacy]) {
      for (const moment of ['start', 'middle', 'end', 'middle']) {
        const result = await call('asking__echo', { moment });
        assert.ok(!result.isError, JSON.stringify(result));
        assert.equal(text(result), moment === 'middle' ? 'middle refused refused refused' : moment);
      }
    }
    const many = await Promise.all(Array.from({ length: 12 }, (_, i) => modern('asking__echo', { moment: ['start', 'middle', 'end'][i % 3] })));
    assert.deepEqual(many.filter((result) => result.isError), []);
    await assert.rejects(modern('asking__needy'), { code: -32021 }, 'what the server fails for it fails');
    assert.equal(text(await legacy('asking__needy', {})), 'refused', 'in its own words');
  });
}

test('a modern server gets the answer that says no, where there is one', async (t) => {
  const server = await front(t, stdio('--modern'));
  assert.equal(text(await callTool(server.endpoint, 'asking__echo')), '{"elicitation/create": {"action": "cancel"}, "roots/list": {"roots": []}}');
  await assert.rejects(callTool(server.endpoint, 'asking__needy'), { code: -32021 });
});
