// Runs the table of behaviours. A behaviour marked `stub` relies on the stub relay's files, hosts and tools, and is left
// out when the other end is a real server.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { after, describe, test } from "node:test";
import { chooseBackend } from "./backends.mjs";

const table = JSON.parse(readFileSync(new URL("behaviours.json", import.meta.url), "utf8"));
const backend = chooseBackend();
const only = process.env.ONLY ? new RegExp(process.env.ONLY) : undefined;

const expectText = (actual, expected, what) => expected !== undefined && assert.equal(actual, expected, what);
const expectMatch = (actual, pattern, what) => pattern !== undefined && assert.match(actual, new RegExp(pattern), what);

function checkOutput({ stdout, stderr }, expected) {
  expectText(stdout.toString(), expected.stdout, "stdout");
  expectText(stdout.toString("base64"), expected.stdoutBase64, "stdout bytes");
  expectMatch(stdout.toString(), expected.stdoutMatch, "stdout");
  expectText(stderr.toString(), expected.stderr, "stderr");
  expectMatch(stderr.toString(), expected.stderrMatch, "stderr");
  if (expected.stderrNotMatch) assert.doesNotMatch(stderr.toString(), new RegExp(expected.stderrNotMatch));
  if (expected.stderrMaxBytes) assert.ok(stderr.length <= expected.stderrMaxBytes, `stderr has ${stderr.length} bytes`);
  if (expected.stderr === undefined && !expected.stderrMatch && (expected.exitCode ?? 0) === 0) assert.equal(stderr.toString(), "", "stderr");
}

function checkOutcome({ done, stderr }, expected) {
  assert.ok(done, `the run sent no result; stderr: ${stderr}`);
  const codes = [expected.exitCode ?? 0].flat();
  assert.ok(codes.includes(done.exitCode), `exit code ${done.exitCode}, expected ${codes}: ${stderr} ${done.error?.message ?? ""}`);
  if ("value" in expected) assert.deepEqual(done.value, expected.value);
  if (expected.noValue) assert.equal(done.value ?? undefined, undefined);
  if (expected.noValueText) assert.equal(done.valueText ?? "", "");
  expectText(done.valueText, expected.valueText, "valueText");
  expectMatch(done.valueText ?? "", expected.valueTextMatch, "valueText");
  expectText(done.error?.type, expected.errorType, "error type");
}

/** What only the stub relay can tell. */
function checkWorld({ relay, displays }, expected) {
  if (!relay) return;
  if (expected.minInFlight) assert.ok(relay.maxInFlight >= expected.minInFlight, `only ${relay.maxInFlight} calls overlapped`);
  if (expected.maxReadBytes) {
    const total = relay.files.reads.reduce((sum, read) => sum + read.length, 0);
    assert.ok(total <= expected.maxReadBytes, `${total} bytes were asked for`);
  }
  if (expected.displays) {
    const seen = displays.map(({ header, body }) => ({ ...header.args, bytes: body.length }));
    assert.equal(seen.length, expected.displays.length);
    expected.displays.forEach((display, i) => assert.partialDeepStrictEqual?.(seen[i], display) ?? assert.deepEqual({ ...seen[i], ...display }, seen[i]));
  }
}

async function runStep(child, behaviour, step) {
  const { argv, env, cwd, path, stdin, servers, session, timeoutMs } = behaviour;
  const result = await child.run({ code: step.code.join("\n"), argv, env, cwd, path, stdin, servers, session, timeoutMs });
  checkOutcome(result, step);
  checkOutput(result, step);
  checkWorld(result, step);
}

describe(`guest behaviours on ${backend.name}`, () => {
  after(() => backend.stop());
  for (const behaviour of table) {
    const title = `${behaviour.language}: ${behaviour.name}`;
    if (only && !only.test(title)) continue;
    test(title, { skip: behaviour.stub && !backend.hasStubWorld }, async () => {
      const child = await backend.open(behaviour.language, { fresh: behaviour.freshChild });
      try {
        await runStep(child, behaviour, behaviour);
        for (const step of behaviour.then ?? []) await runStep(child, behaviour, step);
      } finally {
        child.close();
      }
    });
  }
});
