import { beforeEach, expect, test } from 'vitest';
import { createCallerUsage } from '../../../../adapters/caller-usage.ts';
import { createUsageLedger } from '../../../../adapters/embedded/callers/usage.ts';
import { frameBase64 } from '../../../../adapters/openapi/examples/jobs.ts';
import type { UsageLedger } from '../../../../core/ports/usage.ts';
import { VisionError } from '../../../../core/vision-errors.ts';
import { newCaller } from '../../../../core/records/caller.ts';
import { createClientFor, type ApiClient } from '../../../support/api/api-client.ts';
import { createWorld, monitorRequest, type World } from '../../../support/world.ts';
import { createMonitor } from '../../../support/create-jobs.ts';

let world: World;
let harbour: ApiClient;
const url = 'https://cameras.example/live.m3u8';
const check = (client: ApiClient) =>
  client.call('POST', '/check-once', { stream_url: url, condition: 'A ship' });
beforeEach(async () => {
  world = createWorld();
  for (const name of ['harbour', 'canal', 'ops'])
    await world.c.callers.add(newCaller(name, null, world.c.now()));
  harbour = await createClientFor(world, ['read']);
});

test('a caller sees its own calls, tokens and cost by day, with each kind of check', async () => {
  const jobs = await createClientFor(world, ['jobs']);
  await check(jobs);
  await jobs.call('POST', '/analyze-frame', { frame_b64: frameBase64, question: 'A ship?' });
  const { run_id } = await createMonitor(monitorRequest({}), 'harbour', world.c);
  await world.tick(await world.begin({ run_id, generation: 0 }));

  const { status, body } = await harbour.call('GET', '/usage');

  const use = { model_calls: 3, model_errors: 0, input_tokens: 30, output_tokens: 6 };
  const day = world.clock.now.toISOString().slice(0, 10);
  expect(status).toBe(200);
  expect(body).toMatchObject({ to: day, next_after: null, callers: [{ caller: 'harbour', ...use }] });
  expect(body.callers[0].cost_usd).toBeCloseTo(3 * (10 * 0.000_06 + 2 * 0.000_24), 5);
  expect(body.callers[0].days).toMatchObject([{ day, ...use }]);
});

test('a failed call counts as an error without tokens, and an unknown price has no cost', async () => {
  world.c.usage = usageWith(null);
  const jobs = await createClientFor(world, ['jobs']);
  world.script.verdicts.push(new VisionError('The model did not answer.'));
  await check(jobs);
  await check(jobs);
  expect((await harbour.call('GET', '/usage')).body.callers).toMatchObject([
    { model_calls: 2, model_errors: 1, input_tokens: 10, cost_usd: null },
  ]);
});

test('a count that cannot be stored fails no check', async () => {
  world.c.usage = usageWith(null, () => Promise.reject(new Error('disk full')));
  expect((await check(await createClientFor(world, ['jobs']))).status).toBe(200);
  expect(world.logged.join()).toContain('Use of a caller was not counted');
});

test('other callers and all callers require the scope admin', async () => {
  for (const query of ['?caller=canal', '?all=true'])
    expect((await harbour.call('GET', `/usage${query}`)).status).toBe(403);
  expect((await harbour.call('GET', '/usage?caller=harbour')).status).toBe(200);
  const admin = await createClientFor(world, ['admin'], 'ops');
  await check(await createClientFor(world, ['jobs'], 'canal'));
  expect((await admin.call('GET', '/usage?caller=canal')).body.callers).toMatchObject([
    { caller: 'canal', model_calls: 1 },
  ]);
  const first = (await admin.call('GET', '/usage?all=true&limit=2')).body;
  expect(first.callers.map(({ caller }: any) => caller)).toEqual(['canal', 'harbour']);
  const second = (await admin.call('GET', `/usage?all=true&limit=2&after=${first.next_after}`)).body;
  expect(second).toMatchObject({ callers: [{ caller: 'ops', model_calls: 0, days: [] }], next_after: null });
});

test.each(['?from=2026-03-02&to=2026-03-01', '?from=2020-01-01&to=2026-01-01'])(
  'the period %s is a 400 with the next step',
  async (query) => {
    const { status, body } = await harbour.call('GET', `/usage${query}`);
    expect([status, body.error.remediation]).toEqual([400, expect.stringContaining('at most 400 days')]);
  },
);

test('a day that does not exist is a 422', async () => {
  expect((await harbour.call('GET', '/usage?from=2026-02-30')).status).toBe(422);
});

function usageWith(modelPrice: null, add?: UsageLedger['add']) {
  const ledger = createUsageLedger(world.database);
  return createCallerUsage({
    ledger: { ...ledger, ...(add && { add }) },
    modelPrice,
    log: world.c.log,
    now: world.c.now,
  });
}
