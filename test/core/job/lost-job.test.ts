import { describe, expect, test } from 'vitest';
import { loadWorkflow } from '../../../adapters/embedded/workflow/definition.ts';
import type { TaskState } from '../../../adapters/embedded/workflow/state-schemas.ts';
import { isLost } from '../../../core/job/reconcile.ts';
import { rules } from '../../../core/rules.ts';
import watch from '../../../workflow/watch.asl.json' with { type: 'json' };
import { after, newJob } from '../../contract/records.ts';

const running = { generation: 0, status: 'running', runsHere: false };
const waiting = {
  done: false,
  wait_until: after(10).toISOString(),
  looked: true,
  closing: false,
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
  const workflow = loadWorkflow(watch, ['AnalyzeFunctionArn', 'CaptureFunctionArn']);
  const seconds = ['Begin', 'Capture', 'Analyze'].map((name) => {
    const state = workflow.states.get(name);
    if (state?.Type !== 'Task') throw new Error(`${name} is no task`);
    return maxTaskSeconds(state);
  });
  const total = seconds.reduce((sum, each) => sum + each, 0);
  expect(total + rules.leaseMarginSeconds + sweepSeconds).toBeLessThanOrEqual(rules.maxTickSeconds);
});

/** Interval between two sweeps of `reconcile`, which starts an execution that is missing when the lease has run out. */
const sweepSeconds = 60;

/** Every retrier used up, every attempt ended by its timeout, every delay without jitter. */
function maxTaskSeconds({ TimeoutSeconds: timeoutSeconds, Retry: retriers }: TaskState): number {
  if (timeoutSeconds === undefined) throw new Error('A task without a timeout may take forever');
  return retriers.reduce((sum, { MaxAttempts, IntervalSeconds, BackoffRate, MaxDelaySeconds }) => {
    const delays = Array.from({ length: MaxAttempts }, (_, used) =>
      Math.min(IntervalSeconds * BackoffRate ** used, MaxDelaySeconds),
    );
    return delays.reduce((total, delay) => total + delay + timeoutSeconds, sum);
  }, timeoutSeconds);
}
