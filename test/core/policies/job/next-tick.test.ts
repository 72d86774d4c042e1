import { expect, test } from 'vitest';
import { jobWakeUpTime, nextCaptureAt, scheduleTick } from '../../../../core/policies/job/next-tick.ts';
import type { JobOutcome } from '../../../../core/policies/job/outcome.ts';
import { after, captureFailed, looked, missed, modelBusy, runningJob } from '../../../support/watching.ts';

test.each<[string, string, JobOutcome]>([
  ['a verdict', 'at', looked(false)],
  ['a failed model call', 'before', missed],
  ['a busy model', 'before', modelBusy],
  ['a failed capture', 'at', captureFailed],
])('the scan of a monitor after %s begins %s its capture', (_, begin, outcome) => {
  const job = runningJob();
  const { rescans = false } = scheduleTick(job, after(10), outcome, job.sight, {});
  expect(rescans).toBe(begin === 'before');
});

test('a monitor with a refused password that is started again waits to the end of the grace period', () => {
  const job = runningJob({ interval_seconds: 5 });
  const trouble = {
    reason: 'access_refused' as const,
    since: after(0).toISOString(),
    captures: 1,
    lost: false,
  };
  const sight = { ...job.sight, stream_trouble: trouble };
  const at = nextCaptureAt(job, sight, after(0));
  expect(at).toEqual(after(60));
  const next = scheduleTick(job, at, captureFailed, sight, {});
  const wakesAt = jobWakeUpTime({ ...job, sight, next }, after(1));
  expect(wakesAt.toISOString()).toBe(next.wait_until);
});
