// The long form of tests/upstream/chaos.test.mjs: tests/soak/run chaos [SECONDS].
import { test } from 'node:test';
import { serve } from '../program.mjs';
import { chaos, chaosConfig, report } from '../upstream/chaos.mjs';
import { stopAndVerify } from './soak.mjs';

const seconds = Number(process.argv[2]);

test(`${seconds} s of upstream servers that misbehave`, { timeout: (seconds * 2 + 300) * 1000 }, async (t) => {
  const server = await serve(t, { config: chaosConfig() });
  console.log(report(await chaos(server, { seconds })));
  await stopAndVerify(server);
});
