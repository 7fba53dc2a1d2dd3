// Clients that never rest: each calls tools one after the other and checks every answer.
import assert from 'node:assert/strict';
import http from 'node:http';
import { callTool } from '../mcp.mjs';

let turns = 0;

// What may be called, and what must come back. Numbers differ from call to call, so that a mixed-up answer shows.
const calls = {
  run_js: (n) => [{ code: `console.log(${n} * 2); ${n} + 1` }, ({ stdout, value }) => { assert.equal(stdout, `${n * 2}\n`); assert.equal(value, n + 1); }],
  run_py: (n) => [{ code: `print(${n} * 2)` }, ({ stdout }) => assert.equal(stdout, `${n * 2}\n`)],
  server_info: () => [{}, ({ version }) => assert.equal(typeof version, 'string')],
};

// Failures that a killed sandbox explains; anything else is a defect whenever it happens.
const explained = /killed|died|ended|restart|sandbox|signal|zygote|unavailable|queue|lost|crash/i;

export class Traffic {
  done = 0;
  excused = 0;
  failures = [];
  #stopped = false;

  constructor(endpoint, { tools = Object.keys(calls), mayFail = () => false } = {}) {
    Object.assign(this, { endpoint, tools, mayFail });
    this.agent = new http.Agent({ keepAlive: true, maxSockets: 64 });
  }

  async once(tool) {
    const [args, check] = calls[tool](++turns);
    try {
      const result = await callTool(this.endpoint, tool, args, { agent: this.agent });
      if (result.isError && this.mayFail() && explained.test(JSON.stringify(result))) this.excused += 1;
      else check(result.structuredContent ?? {});
    } catch (error) {
      if (!this.mayFail(error)) this.failures.push(`${tool}: ${error.message}`.slice(0, 500));
      else this.excused += 1;
    }
    this.done += 1;
  }

  async client(offset) {
    for (let i = offset; !this.#stopped; ++i) await this.once(this.tools[i % this.tools.length]);
  }

  start(clients) {
    this.finished = Promise.all(Array.from({ length: clients }, (_, i) => this.client(i)));
    return this;
  }

  async stop() {
    this.#stopped = true;
    await this.finished;
    this.agent.destroy();
  }

  assertClean() {
    assert.deepEqual(this.failures.slice(0, 5), [], `${this.failures.length} of ${this.done} calls failed`);
  }
}
