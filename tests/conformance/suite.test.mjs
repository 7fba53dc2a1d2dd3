// The official conformance suite, whole: what is scored, and what nobody has to pass but we do.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { alsoWanted, problems, runSuite, scoredScenarios, startFixtures } from './run.mjs';

for (const [requirements, count] of [['2025-11-25', 30], ['2026-07-28', 37]]) {
  test(`conformance to ${requirements}`, async (t) => {
    const server = await startFixtures();
    t.after(() => server.stop({ grace: 5000 }));
    const scored = scoredScenarios(requirements);
    assert.equal(scored.length, count, 'the scored scenarios of this revision');
    const { results } = await runSuite(server.endpoint, requirements);
    assert.deepEqual(problems(results, [...scored, ...alsoWanted[requirements]]), []);
    assert.equal(server.stderr, '', 'the server reported no failure of its own');
  });
}
