// One minute of the soak: enough to catch a leak per call, a lost child, a zygote that does not come back.
import { test } from 'node:test';
import { serve } from '../program.mjs';
import { config, inARow, killRelay, sameState, steady, stopAndVerify, underFire, warmUp } from './soak.mjs';

test('soak: 300 runs in a row and 20 s of 8 clients leave nothing behind', async (t) => {
  const server = await serve(t, { config });
  await warmUp(server);
  await inARow(server, 300);
  await steady(server, { seconds: 20, clients: 8 });
  await stopAndVerify(server);
});

test('soak: 20 kills of zygotes and sandboxes under load, and everything works again', async (t) => {
  const server = await serve(t, { config });
  await warmUp(server);
  await underFire(server, { seconds: 20, clients: 6, kills: 20 });
  await stopAndVerify(server);
});

test('soak: relay killed under load leaves no orphan, and the audit chain holds', async (t) => {
  await killRelay(sameState(t), { times: 4, clients: 4 });
});
