import { expect, test } from 'vitest';
import { createCurrentCaller } from '../../../adapters/embedded/load/current-caller.ts';
import { createCallerUsage } from '../../../adapters/caller-usage.ts';
import { createHttpCaller } from '../../support/api/http-caller.ts';
import { createWorld } from '../../support/world.ts';
import { judgingEach } from '../../support/scripted-model.ts';

/** A model of this machine serves callers in turn, so it must know for whom each call is. */

const tokens = { input_tokens: 0, output_tokens: 0 };

test('the model is called in the name of the caller of a run', async () => {
  const world = createWorld();
  const { asCaller, currentCaller } = createCurrentCaller();
  Object.assign(world.c, { asCaller });
  const callers: string[] = [];
  world.c.vision.judge = judgingEach(async () => {
    callers.push(currentCaller());
    return { triggered: false, explanation: 'Nothing.', tokens };
  });
  const call = await createHttpCaller(world);
  const conditions = [{ condition: 'A person is at the gate' }];
  const stream = { name: 'Gate', stream_url: 'rtsp://camera.example/1' };
  const { body: watch } = await call('POST', '/watches', { ...stream, conditions });
  await world.tick(await world.begin({ run_id: watch.watch_id, generation: 0 }));
  expect(callers).toEqual(['harbour']);
  expect(currentCaller()).toBe('');
});

test('a call that a caller pays for is made in the name of this caller', async () => {
  const { asCaller, currentCaller } = createCurrentCaller();
  const ledger = { add: async () => undefined, days: async () => [] };
  const log = { warning: () => undefined };
  const usage = createCallerUsage({ ledger, modelPrice: null, log, now: () => new Date(0), asCaller });
  expect(await usage.charge('quay', async () => ({ tokens, caller: currentCaller() }))).toMatchObject({
    caller: 'quay',
  });
});
