// What a hostile upstream server says: nothing invisible reaches a model, and what is no result is mended or refused.
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { test } from 'node:test';
import { ask, callTool } from '../mcp.mjs';
import { serve } from '../program.mjs';

const fixture = join(import.meta.dirname, 'fixtures', 'hostile_server.py');
const front = (t) => serve(t, { config: { toolsets: [], mcps: [{ name: 'hostile', command: 'python3', args: [fixture], expose: 'tools' }] } });
// eslint-disable-next-line no-control-regex
const invisible = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u00ad\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff]|[\u{e0000}-\u{e0fff}]/u;

test('descriptions, titles and names lose what cannot be seen', async (t) => {
  const server = await front(t);
  const { tools } = await ask(server.endpoint, 'tools/list');
  const words = tools.find((tool) => tool.name === 'hostile__words');
  assert.equal(words.description, 'Reads[2J a file.');
  assert.equal(words.title, 'Title');
  assert.equal(words.annotations.title, 'Hint');
  assert.equal(words.inputSchema.properties.path.description, 'where');
  assert.equal(tools.length, 7, 'a tool whose name cannot be seen whole is left out');
  const { resources } = await ask(server.endpoint, 'resources/list');
  assert.deepEqual(resources.map(({ uri, name }) => [uri, name]), [['test://a', 'ab']]);
  const { prompts } = await ask(server.endpoint, 'prompts/list');
  for (const list of [tools, resources, prompts]) {
    JSON.parse(JSON.stringify(list), (key, value) => {
      assert.ok(typeof value !== 'string' || !invisible.test(value), `${key}: ${JSON.stringify(value)}`);
      return value;
    });
  }
});

test('a result that is none is mended, or refused with a sentence', async (t) => {
  const server = await front(t);
  const call = (name) => callTool(server.endpoint, `hostile__${name}`);
  assert.deepEqual((await call('words')).content, [{ type: 'text', text: 'plain words' }]);
  assert.deepEqual((await call('block')).content, [{ type: 'text', text: 'one block' }]);
  assert.deepEqual((await call('nothing')).content, []);
  for (const [name, why] of Object.entries({ flag: /isError is neither true nor false/, number: /content is no list/, loose: /no block/, list: /no object/ })) {
    const result = await call(name);
    assert.equal(result.isError, true, name);
    assert.match(result.content[0].text, why);
  }
});
