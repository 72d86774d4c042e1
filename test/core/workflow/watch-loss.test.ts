import { expect, test } from 'vitest';
import { StreamFetchError } from '../../../core/errors.ts';
import type { WorkflowState } from '../../../core/records/workflow.ts';
import { tick, visitor } from '../../support/watches/scanned-watch.ts';
import {
  alertEvents,
  createWatch,
  eventTypes,
  run,
  stored,
  world,
} from '../../support/watches/watch-world.ts';

const failing = () => {
  world.script.captures.push(new StreamFetchError('gone'));
};
async function lose(step: WorkflowState): Promise<WorkflowState> {
  let lost = step;
  while (!(await stored()).sight.stream_trouble?.lost) {
    failing();
    lost = await world.tick(lost);
  }
  return lost;
}

test('a stream whose packets are lost is lost with that reason', async () => {
  const clear = await run(await createWatch(), 1);
  world.script.captures.push(new StreamFetchError('A hole.', undefined, { isDamaged: true }));
  await world.tick(clear);
  expect((await stored()).sight).toMatchObject({
    in_gap: 'damaged',
    stream_trouble: { reason: 'damaged' },
  });
});

test('an alert that opens with the first picture of a stream that was gone says for how long', async () => {
  const clear = await run(await createWatch(), 1);
  const lost = await lose(clear);
  await tick(lost, visitor(6, 4), [true, true, false]);
  const { since } = (await stored()).sight.stream_trouble ?? { since: null };
  expect(since).toBeNull();
  const [opened] = await alertEvents();
  const seconds = opened && 'lost_seconds' in opened.data ? opened.data.lost_seconds : undefined;
  expect(seconds).toBeGreaterThanOrEqual(60);
  const [alert] = await world.c.watches.alerts({ caller: 'caller', limit: 1 }, world.clock.now);
  expect(alert?.lost_seconds).toBe(seconds);
});

test('an alert that a second check confirms after a loss says for how long the stream was gone, a later one does not', async () => {
  const clear = await run(await createWatch(), 1);
  const lost = await lose(clear);
  world.script.verdicts.push(true, true, false, false, true, true);
  await run(lost, 6);
  const openings = (await alertEvents()).filter(({ type }) => type === 'alert_opened');
  expect(openings.map(({ data }) => 'lost_seconds' in data)).toEqual([true, false]);
});

test('an alert that opened just before its stream was lost closes with the return of the stream', async () => {
  const clear = await run(await createWatch(), 1);
  const opened = await tick(clear, visitor(6, 4), [true, true, true]);
  const lost = await lose(opened);
  await tick(lost, [], [false], true);
  expect(await eventTypes()).toEqual(['alert_opened', 'stream_lost', 'alert_closed', 'stream_recovered']);
});

test('an alert that opened long before its stream was lost closes by its rules', async () => {
  const clear = await run(await createWatch(), 1);
  let step = await tick(clear, visitor(6, 4), [true, true, true]);
  world.script.verdicts.push(...Array.from({ length: 20 }, () => true));
  step = await run(step, 20);
  const lost = await lose(step);
  await tick(lost, [], [false], true);
  expect(await eventTypes()).toEqual(['alert_opened', 'stream_lost', 'stream_recovered']);
});
