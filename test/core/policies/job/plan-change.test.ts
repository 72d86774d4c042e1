import { expect, test } from 'vitest';
import { rules } from '../../../../core/rules.ts';
import { planTick } from '../../../../core/policies/job/plan-change.ts';
import { initialJobSight, zeroCounters } from '../../../../core/records/job.ts';
import type { TickInput } from '../../../../core/records/workflow.ts';
import { newDigest, progress } from '../../../contract/records.ts';
import { after, captured } from '../../../support/watching.ts';

const capture = captured({ motion_if_judged: '3.reference.learned' });

/** Returns the fields that the tick with this number in its generation sets. */
function planned(tick: number, { generation = 0, done = false } = {}) {
  const job = newDigest({ status: 'running', generation, execution_ticks: tick - 1 });
  const next = {
    done,
    wait_until: after(60).toISOString(),
    judged: true,
    closing: false,
    confirming: false,
    resolve_again: false,
  };
  const decision = {
    counters: zeroCounters,
    sight: initialJobSight,
    state: job.state,
    events: [progress],
    next,
    ending: undefined,
  };
  const { source_id } = job;
  const input: TickInput = {
    operation: 'analyze',
    run_id: job.run_id,
    generation,
    capture: { source_id, tick: 1, closing: false, resolve_again: false, seen: null, motion: null },
    captured: capture,
  };
  return planTick(job, decision, input, 3600, after(0)).set;
}

const last = rules.ticksPerExecution;

test('the last tick of a generation raises it and stores the capture state', () => {
  const handedOver = { execution_ticks: 0, handed_over: '3.reference.learned' };
  expect(planned(last)).toMatchObject({ generation: 1, ...handedOver });
  expect(planned(last, { generation: 1 })).toMatchObject({ generation: 2, ...handedOver });
});

test('a job that was restored from a backup, with a generation of its own time, hands over too', () => {
  const generation = Math.floor(after(0).getTime() / 60_000);
  expect(planned(last, { generation })).toMatchObject({ generation: generation + 1 });
});

test.each([
  ['a tick before the last one of a generation', planned(last - 1)],
  ['the first tick of a generation', planned(1, { generation: 1 })],
  ['the last tick of the job', planned(last, { done: true })],
])('%s does not raise the generation', (_, set) => {
  expect(set.generation).toBeUndefined();
  expect(set.handed_over).toBeNull();
});

test('each tick stores the progress of the stream', () => {
  expect(planned(1).seen).toEqual(capture.seen);
});
