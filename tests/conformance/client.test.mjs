// The client half of the official conformance suite: every scenario but those of authorization, one by one.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { problems, runClientScenario } from './run.mjs';

const scenarios = {
  '2025-11-25': ['initialize', 'tools_call', 'elicitation-sep1034-client-defaults', 'sse-retry', 'json-schema-2020-12-preservation'],
  '2026-07-28': [
    'tools_call', 'request-metadata', 'sep-2322-client-request-state', 'http-standard-headers', 'http-custom-headers',
    'http-invalid-tool-headers', 'json-schema-ref-no-deref', 'json-schema-2020-12-preservation',
  ],
};

for (const [revision, names] of Object.entries(scenarios))
  for (const name of names)
    test(`${name} at ${revision}`, async () => {
      const { output, results } = await runClientScenario(name, revision);
      assert.deepEqual(problems(results, [name]), [], output);
    });
