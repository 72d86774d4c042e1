import { describe, expect, test } from 'vitest';
import { rules } from '../../../core/rules.ts';
import { planTick } from '../../../core/tick/job-change.ts';
import type { NewEvent } from '../../../core/records/event.ts';
import { zeroCounters, initialTickState } from '../../../core/records/job.ts';
import { after, newDigest, progress } from '../../contract/records.ts';

const captureState = { seen: null, motion: '3.reference.learned' };

function planned(tick: number, { generation = 0, events = [progress], done = false } = {}) {
  const job = newDigest({ status: 'running', generation, last_tick: tick - 1 });
  const next = {
    done,
    wait_until: after(60).toISOString(),
    looked: true,
    closing: false,
    resolve_again: false,
  };
  const decision = { counters: zeroCounters, watch: initialTickState, events, next, ending: undefined };
  return planTick(job, decision, captureState, 3600, after(0)).set;
}

describe('the last tick of a generation', () => {
  const last = rules.ticksPerExecution;

  test('the last tick of a generation raises it and stores the capture state', () => {
    expect(planned(last)).toMatchObject({ generation: 1, handed_over: captureState });
    expect(planned(2 * last, { generation: 1 })).toMatchObject({ generation: 2, handed_over: captureState });
  });

  test.each([
    ['a tick before the last one of a generation', planned(last - 1)],
    ['the first tick of a generation', planned(last + 1, { generation: 1 })],
    ['the last tick of the job', planned(last, { done: true })],
  ])('%s does not raise the generation', (_, set) => {
    expect(set.generation).toBeUndefined();
    expect(set.handed_over).toBeNull();
  });

  test('a job of a release with longer generations is handed over once', () => {
    expect(planned(10 * last + 1).generation).toBe(10);
  });

  test('a generation ends with a tick that logs an event, so that no older change can follow it', () => {
    const events: NewEvent[] = [];
    expect(planned(last, { events }).generation).toBeUndefined();
    expect(planned(last + 1, { events }).generation).toBeUndefined();
    expect(planned(last + 2).generation).toBe(1);
    expect(planned(2 * last, { generation: 1 }).generation).toBe(2);
  });
});
