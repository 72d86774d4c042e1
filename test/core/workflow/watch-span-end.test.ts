import { expect, test } from 'vitest';
import type { WorkflowState } from '../../../core/records/workflow.ts';
import { start } from '../../contract/records.ts';
import { quiet, tick, visitor } from '../../support/watches/scanned-watch.ts';
import { alertEvents, createWatch, run, stored, watchId, world } from '../../support/watches/watch-world.ts';
import { judgingEach } from '../../support/scripted-model.ts';

const days = ['mon', 'tue', 'wed', 'thu', 'fri', 'sat', 'sun'] as const;
const spans = ['12:00', '12:03'].map((from, index) => ({
  days: [...days],
  from,
  to: ['12:01', '12:04'][index]!,
}));
const schedule = { time_zone: 'UTC', active: spans };
const at = () => (world.clock.now.getTime() - start.getTime()) / 1000;

/** Runs scans without motion up to the tick that is next at `seconds`. */
async function until(seconds: number, step: WorkflowState): Promise<WorkflowState> {
  let current = step;
  while (Date.parse(current.wait_until) - start.getTime() < seconds * 1000) {
    if (current.done)
      current = await world.begin({ run_id: watchId, generation: (await stored()).generation });
    current = await tick(current, quiet(8, 6, 4, 2), []);
  }
  return current;
}

test('the last scan of a span judges a visit after the last check, and its newest picture, which is after the span, is not judged', async () => {
  const last = await until(60, await run(await createWatch({ schedule }), 1));
  const judged: number[] = [];
  world.c.vision.judge = judgingEach(async ({ frame }) => {
    judged.push(frame[2] ?? 0);
    return { triggered: true, explanation: '', tokens: { input_tokens: 1, output_tokens: 1 } };
  });
  await tick(last, [...quiet(8), ...visitor(6, 4, 2)], []);
  expect([at(), judged]).toEqual([60, [6, 2]]);
  const [opened, closed] = await alertEvents();
  expect(opened?.data).toMatchObject({
    ended: true,
    opened_at: new Date(start.getTime() + 58_000).toISOString(),
  });
  expect(closed?.data).toMatchObject({ reason: 'off_schedule' });
  const { status, state, next } = await stored();
  expect([status, state.conditions[0]?.phase, next?.closing]).toEqual(['off_schedule', 'unknown', true]);
});

test('a span begins with a check, not with the next point of the grid', async () => {
  const begun = await createWatch({ schedule });
  const off = await until(180, await run(begun, 1));
  const began = await until(181, off);
  expect([at(), Date.parse(began.wait_until) - start.getTime()]).toEqual([180, 190_000]);
});
