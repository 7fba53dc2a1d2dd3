// The official suite through the gateway, unprefixed, in front of our own fixture server: what passes directly passes through relay too.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { alsoWanted, problems, runSuite, scoredScenarios, startFixtures } from '../conformance/run.mjs';
import { program, serve } from '../program.mjs';

const upstreams = {
  stdio: () => ({ transport: 'stdio', command: program('relay-conformance-server'), args: ['--stdio'] }),
  http: async (t) => {
    const fixtures = await startFixtures();
    t.after(() => fixtures.stop({ grace: 5000 }));
    return { transport: 'http', endpoint: fixtures.endpoint };
  },
};

// A legacy server has no names for its questions; and where a tool may be a task it is asked for one at once, so its questions are those of the task. What a
// modern client wants to see of that it cannot say.
const unsaid = [
  'input-required-result-basic-elicitation: sep-2322-elicitation-incomplete', 'input-required-result-ignore-extra-params: ', 'tasks-mrtr-composition: ',
];

const runs = [
  { transport: 'stdio', era: 'probe', requirements: '2025-11-25', count: 30 },
  { transport: 'stdio', era: 'probe', requirements: '2026-07-28', count: 37 },
  { transport: 'http', era: 'probe', requirements: '2025-11-25', count: 30 },
  { transport: 'http', era: 'probe', requirements: '2026-07-28', count: 37 },
  { transport: 'stdio', era: 'legacy', requirements: '2025-11-25', count: 30 },
  { transport: 'stdio', era: 'legacy', requirements: '2026-07-28', count: 37, without: unsaid },
];

for (const { transport, era, requirements, count, without = [] } of runs) {
  const spoken = era === 'probe' ? 'modern' : 'legacy';
  test(`conformance to ${requirements} through the gateway to a ${spoken} server over ${transport}`, async (t) => {
    const upstream = { name: 'fixtures', expose: 'tools', era, ...(await upstreams[transport](t)) };
    const server = await serve(t, { config: { toolsets: [], gateway: { prefix: 'none' }, mcps: [upstream] } });
    const scored = scoredScenarios(requirements);
    assert.equal(scored.length, count);
    const { results } = await runSuite(server.endpoint, requirements);
    const wanted = [...scored, ...alsoWanted[requirements].filter((scenario) => scenario.startsWith('tasks-'))];
    const wrong = problems(results, wanted).filter((problem) => !without.some((known) => problem.startsWith(known)));
    assert.deepEqual(wrong, []);
  });
}
