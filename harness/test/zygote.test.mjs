// Programs that would take this process with them run in a real relay-zygote only (RELAY_ZYGOTE=path to it). The stub
// relay kills them by closing their socket; what they printed before must have arrived.

import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { startZygote } from "./zygote_backend.mjs";

const program = process.env.RELAY_ZYGOTE;
const LIMIT = 1500;

const STUCK = {
  js: {
    "an endless loop": 'console.log("before"); while (true) {}',
    "endless microtasks": 'console.log("before"); (function f() { Promise.resolve().then(f) })()',
    "endless nextTick": 'console.log("before"); (function f() { process.nextTick(f) })()',
    "a builtin that never looks up": 'console.log("before"); new Array(1e9) + ""',
    "catastrophic backtracking": 'console.log("before"); /(a+)+$/.test("a".repeat(40) + "b")',
    "an endless getter in the value": 'console.log("before"); ({ get x() { for (;;) {} } })',
    "an endless toJSON": 'console.log("before"); ({ toJSON() { for (;;) {} } })',
  },
  py: {
    "an endless loop": 'print("before")\nwhile True: pass',
    "an endless __del__": 'print("before")\nclass D:\n    def __del__(self):\n        while True: pass\nD()\nNone',
    "a huge power": 'print("before")\nx = 10 ** (10 ** 9)',
    "catastrophic backtracking": 'print("before")\nimport re\nre.match(r"(a+)+$", "a" * 40 + "b")',
    "an endless repr in the value": 'print("before")\nclass R:\n    def __repr__(self):\n        while True: pass\nR()',
    "endless asyncio": 'print("before")\nimport asyncio\nwhile True: await asyncio.sleep(0)',
  },
};

for (const language of ["js", "py"]) {
  describe(`${language} in a zygote`, { skip: !program && "RELAY_ZYGOTE is not set" }, () => {
    let zygote;
    before(async () => (zygote = await startZygote(language, program)));
    after(() => zygote.stop());

    for (const [name, code] of Object.entries(STUCK[language]))
      test(`${name}: what was printed arrives, the next run works`, async () => {
        const stuck = await zygote.run({ code, timeoutMs: LIMIT });
        assert.ok(stuck.timedOut || stuck.died || stuck.done.error, "the program should not have ended well");
        assert.equal(stuck.stdout.toString(), "before\n");
        const next = await zygote.run({ code: "1 + 1" });
        assert.equal(next.done.value, 2);
      });

    test("children draw different random numbers", async () => {
      const code = { js: "[Math.random(), crypto.randomUUID(), crypto.getRandomValues(new Uint32Array(1))[0]]", py: "import random, uuid, os\n[random.random(), str(uuid.uuid4()), os.urandom(4).hex()]" }[language];
      const seen = new Set();
      for (let i = 0; i < 4; i++) for (const value of (await zygote.run({ code })).done.value) seen.add(String(value));
      assert.equal(seen.size, 12);
    });

    test("a flood of output arrives whole", async () => {
      const code = { js: 'for (let i = 0; i < 100000; i++) console.log("line", i)', py: 'for i in range(100000): print("line", i)' }[language];
      const { stdout, done } = await zygote.run({ code });
      assert.equal(done.exitCode, 0);
      assert.equal(stdout.toString().split("\n").length, 100001);
      assert.ok(stdout.toString().endsWith("line 99999\n"));
    });

    test("memory for ever ends with an error or the child's death, and the next run works", async () => {
      const code = { js: "const a = []; for (;;) a.push(new Uint8Array(1 << 20).fill(1))", py: "a = []\nwhile True: a.append(bytearray(1 << 20))" }[language];
      const result = await zygote.run({ code, timeoutMs: 20000, tamper: (header) => void (header.limits = { memMb: 64 }) });
      assert.ok(result.died || result.timedOut || result.done.exitCode !== 0);
      if (result.done) assert.match(result.done.error.type, /Error/);
      assert.equal((await zygote.run({ code: "2 + 2" })).done.value, 4);
    });
  });
}
