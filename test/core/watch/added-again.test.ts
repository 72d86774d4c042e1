import { expect, test } from 'vitest';
import { publishCreations } from '../../../core/delivery/publish.ts';
import { watchPatchSchema, watchRequestSchema } from '../../../core/requests/watches.ts';
import { createWatch } from '../../../core/watch/create-watch.ts';
import { editWatch } from '../../../core/watch/edit-watch.ts';
import { createWorld } from '../../support/world.ts';

test('a destination that is removed forgets the openings that it got, and does not know them when it is added again', async () => {
  const world = createWorld();
  const { c } = world;
  c.watches = publishCreations(c.watches, c.runs, c);
  const team = { destination_id: 'team', type: 'slack' as const, url: 'https://team.example/hook' };
  const request = {
    name: 'Gate',
    stream_url: 'https://camera.example/live.m3u8',
    conditions: [{ condition: 'a person' }],
    destinations: [team],
  };
  const { run_id } = await createWatch(watchRequestSchema.parse(request), 'alice', c);
  const run = { run: 'watch', run_id } as const;
  const notified = [{ subject: 'stream', sequence: 1, delivered: true }];
  const { fingerprint } = (await c.watches.get(run_id, c.now()))!.config.destinations[0]!;
  const key = { ...run, destination_id: 'team', fingerprint };
  const initial = { last_attempt_at: null, last_delivered_at: null, tested_at: null, last_error: null };
  await c.deliveries.changeState(key, () => ({
    ...key,
    ...initial,
    failures: 0,
    disabled: null,
    waiting: [],
    notified,
  }));
  const edit = async (destinations: object[]) => {
    const patch = watchPatchSchema.parse({ destinations });
    const validate = (merged: unknown) => watchRequestSchema.parse(merged);
    await editWatch({ watchId: run_id, patch, ifMatch: undefined }, 'alice', c, validate);
    return (await c.deliveries.state(key))?.notified;
  };
  expect(await edit([])).toEqual([]);
  expect(await edit([team])).toEqual([]);
});
