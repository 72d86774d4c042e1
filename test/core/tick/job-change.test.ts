import { describe, expect, test } from 'vitest';
import { rules } from '../../../core/rules.ts';
import { planTick } from '../../../core/tick/job-change.ts';
import { zeroCounters, initialTickState } from '../../../core/records/job.ts';
import { after, newDigest, progress } from '../../contract/records.ts';

const captureState = {
  seen: {
    position: { segment: '100:0123456789ab', segment_seconds: 2 },
    since: after(0).toISOString(),
    identical_since: null,
    seen_at: after(0).toISOString(),
  },
  motion: '3.reference.learned',
};

function planned(tick: number, { generation = 0, done = false } = {}) {
  const job = newDigest({ status: 'running', generation, last_tick: tick - 1 });
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
    sight: initialTickState,
    events: [progress],
    next,
    ending: undefined,
  };
  return planTick(job, decision, captureState, 3600, after(0)).set;
}

describe('the last tick of a generation', () => {
  const last = rules.ticksPerExecution;

  test('the last tick of a generation raises it and stores the capture state', () => {
    expect(planned(last)).toMatchObject({ generation: 1, handed_over: captureState.motion });
    expect(planned(2 * last, { generation: 1 })).toMatchObject({
      generation: 2,
      handed_over: captureState.motion,
    });
  });

  test.each([
    ['a tick before the last one of a generation', planned(last - 1)],
    ['the first tick of a generation', planned(last + 1, { generation: 1 })],
    ['the last tick of the job', planned(last, { done: true })],
  ])('%s does not raise the generation', (_, set) => {
    expect(set.generation).toBeUndefined();
    expect(set.handed_over).toBeNull();
  });

  test('each tick stores the progress of the stream', () => {
    expect(planned(1).seen).toEqual(captureState.seen);
  });
});
