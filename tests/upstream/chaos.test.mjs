// Half a minute of chaos; `make soak` has ten of it.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { serve } from '../program.mjs';
import { chaos, chaosConfig, report } from './chaos.mjs';

test('chaos: 20 servers of which 11 misbehave cost only their own calls, and nothing leaks', { timeout: 300_000 }, async (t) => {
  const server = await serve(t, { config: chaosConfig() });
  const measured = await chaos(server, { seconds: 30 });
  t.diagnostic(report(measured));
  assert.ok(measured.tally.times.steady.length > 0);
  assert.ok((measured.tally.failures.get('crash') ?? []).length > 0, 'some calls hit a crash');
  assert.ok((measured.tally.failures.get('hang') ?? []).length > 0, 'some calls hit a hang');
  assert.deepEqual(await server.stop({ grace: 30_000 }), { code: 0, signal: null });
  await server.assertNothingLeft();
});
