// Children are forked from one booted runtime, so whatever was drawn before the fork is the same in all of them. Every source of
// randomness that a program can reach must differ between two fresh runs; the one that cannot is named here, and in docs/THREATS.md.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { callTool } from '../mcp.mjs';
import { serve } from '../program.mjs';

const sources = {
  run_js: {
    'Math.random': 'Math.random()',
    'crypto.getRandomValues': 'Buffer.from(crypto.getRandomValues(new Uint8Array(16))).toString("hex")',
    'crypto.randomUUID': 'crypto.randomUUID()',
    'crypto.subtle.generateKey': 'const key = await crypto.subtle.generateKey({ name: "HMAC", hash: "SHA-256" }, true, ["sign"]); Buffer.from(await crypto.subtle.exportKey("raw", key)).toString("hex")',
    'node:crypto randomBytes': 'import { randomBytes } from "node:crypto"; randomBytes(16).toString("hex")',
    'node:crypto randomInt': 'import { randomInt } from "node:crypto"; String([randomInt(2 ** 40), randomInt(2 ** 40)])',
    'fs.mkdtempSync': 'import { mkdtempSync } from "node:fs"; mkdtempSync("/tmp/random-")',
  },
  run_py: {
    'random.random': 'import random\nrandom.random()',
    'random.Random()': 'import random\nrandom.Random().random()',
    'random.SystemRandom': 'import random\nrandom.SystemRandom().random()',
    'random.shuffle': 'import random\nitems = list(range(50))\nrandom.shuffle(items)\nstr(items)',
    'secrets': 'import secrets\nsecrets.token_hex(16)',
    'os.urandom': 'import os\nos.urandom(16).hex()',
    'os.getrandom or its absence': 'import os\n(os.getrandom(16) if hasattr(os, "getrandom") else os.urandom(16)).hex()',
    'uuid.uuid4': 'import uuid\nstr(uuid.uuid4())',
    'uuid.uuid1': 'import uuid\nstr(uuid.uuid1())',
    'uuid.getnode': 'import uuid\nuuid.getnode()',
    'tempfile names': 'import tempfile\ntempfile.mktemp()',
    'asyncio in random': 'import asyncio, random\nasync def draw():\n  await asyncio.sleep(0)\n  return random.getrandbits(64)\nstr(await draw())',
  },
};

test('every source of randomness differs between two fresh runs', async (t) => {
  const server = await serve(t, { config: { toolsets: ['code'] } });
  const draw = async (tool, code) => {
    const { value, stderr, error } = (await callTool(server.endpoint, tool, { code })).structuredContent;
    assert.ok(value !== undefined && value !== null, `${code}: ${stderr} ${JSON.stringify(error)}`);
    return value;
  };
  for (const [tool, of] of Object.entries(sources))
    for (const [name, code] of Object.entries(of))
      await t.test(`${tool}: ${name}`, async () => {
        const drawn = await Promise.all([draw(tool, code), draw(tool, code), draw(tool, code)]);
        assert.equal(new Set(drawn).size, drawn.length, JSON.stringify(drawn));
      });

  await t.test("run_py: the seed of str.__hash__ is the snapshot's, and known to be", async () => {
    const code = 'hash("relay")';
    assert.equal(await draw('run_py', code), await draw('run_py', code), 'children have seeds of their own now: take the sentence out of docs/THREATS.md');
  });
});

test('a session draws on, and does not begin anew', async (t) => {
  const server = await serve(t, { config: { toolsets: ['code'] } });
  for (const [tool, code] of [['run_js', 'Math.random()'], ['run_py', 'import random\nrandom.random()']]) {
    const drawn = [];
    let session = 'dice';
    for (let i = 0; i < 3; ++i) {
      const { structuredContent } = await callTool(server.endpoint, tool, { code, session });
      session = structuredContent.session ?? session;
      drawn.push(structuredContent.value);
    }
    assert.equal(new Set(drawn).size, 3, `${tool}: ${drawn}`);
  }
});
