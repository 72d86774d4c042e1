import { describe, expect, test } from 'vitest';
import { isLost } from '../../../core/workflow/repair.ts';
import { rules } from '../../../core/rules.ts';
import { maxRetryDelay, taskLimits, type TaskLimits } from '../../../core/workflow/task-limits.ts';
import { after, newJob } from '../../contract/records.ts';

const running = { generation: 0, status: 'running', runsHere: false };
const waiting = {
  done: false,
  wait_until: after(10).toISOString(),
  judged: true,
  closing: false,
  confirming: false,
  resolve_again: false,
};

describe('isLost', () => {
  const job = newJob({ status: 'running', next: waiting, lease_until: after(610).toISOString() });
  const silentFor = (seconds: number) => after(10 + seconds);

  test('a job whose execution ended without it is lost', () => {
    for (const status of ['succeeded', 'failed', 'aborted'])
      expect(isLost(job, { ...running, status }, after(0))).toBe(true);
  });

  test('a job whose running execution is silent for longer than a tick may take is lost', () => {
    expect(isLost(job, running, silentFor(rules.leaseMarginSeconds + 1))).toBe(false);
    expect(isLost(job, running, silentFor(rules.maxTickSeconds))).toBe(false);
    expect(isLost(job, running, silentFor(rules.maxTickSeconds + 1))).toBe(true);
  });

  test('a job whose execution runs in this process is never lost', () => {
    expect(isLost(job, { ...running, runsHere: true }, silentFor(rules.maxTickSeconds + 1))).toBe(false);
  });

  test('a job within its lease is not lost, whatever its last tick planned', () => {
    const afterDowntime = { ...job, lease_until: after(100_600).toISOString() };
    expect(isLost(afterDowntime, running, after(100_000))).toBe(false);
  });

  test('the end of an earlier generation does not make a job lost', () => {
    expect(isLost({ ...job, generation: 1 }, { ...running, status: 'failed' }, after(0))).toBe(false);
  });
});

test('the maximum silence of a job exceeds all retries of its workflow between two commits', () => {
  const { begin, capture, analyze } = taskLimits;
  const seconds = [begin, capture, analyze].map(maxTaskSeconds);
  const total = seconds.reduce((sum, each) => sum + each, 0);
  expect(total + rules.leaseMarginSeconds + sweepSeconds).toBeLessThanOrEqual(rules.maxTickSeconds);
});

/** Interval between two sweeps of `reconcile`, which starts an execution that is missing when the lease has run out. */
const sweepSeconds = 60;

/** Every retrier used up, every attempt ended by its timeout, every delay without jitter. */
function maxTaskSeconds({ timeoutSeconds, retries }: TaskLimits): number {
  return retries.reduce((sum, rule) => {
    const delays = Array.from({ length: rule.maxAttempts }, (_, used) => maxRetryDelay(rule, used));
    return delays.reduce((total, delay) => total + delay + timeoutSeconds, sum);
  }, timeoutSeconds);
}
