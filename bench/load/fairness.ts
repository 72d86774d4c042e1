import { setTimeout as sleep } from 'node:timers/promises';
import { quantile, round } from '../harness.ts';
import type { BenchService } from '../service.ts';

export type FairnessOptions = {
  jobs: number;
  intervalSeconds: number;
  seconds: number;
  /** Starts one job; returns false if the service refuses it because it is overloaded. */
  startJob: (index: number) => Promise<boolean>;
};

/** Measured fairness of a service that has more jobs than it can carry. */
export type Fairness = Record<string, number | string>;

/** Time between two counts of checks after half of the jobs have ended, in seconds. */
const recoveryStepSeconds = 5;

/**
 * Overloads the service, and prints how it treats its jobs: creations that it refuses, checks by job, intervals, gaps, and the recovery once half of the jobs
 * have ended. Detection takes ten seconds, so jobs that are created in that time overload the service; later ones are refused.
 */
export async function measureFairness(
  service: BenchService,
  { jobs, intervalSeconds, seconds, startJob }: FairnessOptions,
): Promise<Fairness> {
  let refused = 0;
  for (let index = 0; index < jobs; index += 1) if (!(await startJob(index))) refused += 1;
  // The factor of the intervals settles: until then, checks queue.
  await sleep(Math.max(6 * intervalSeconds, 60) * 1000);
  const before = await service.countChecks();
  const started = performance.now();
  await sleep(seconds * 1000);
  const elapsedSeconds = (performance.now() - started) / 1000;
  const after = await service.countChecks();
  const checks = after.map((count, index) => count - (before[index] ?? 0)).toSorted((a, b) => a - b);
  const { lateSeconds, stretch, lateChecks } = service.readPace();
  const lateRefused = !(await startJob(0));
  const gaps = await service.countGaps('service');
  const running = checks.length + (lateRefused ? 0 : 1);
  const perSecond = checks.reduce((sum, count) => sum + count, 0) / elapsedSeconds;
  return {
    'jobs that run': running,
    'creations refused': refused,
    'refused while late': lateRefused ? 'yes' : 'no',
    'checks of the median job': quantile(checks, 0.5),
    'of the least job': checks[0] ?? 0,
    'least of median': round((checks[0] ?? 0) / quantile(checks, 0.5)),
    'checks a second': round(perSecond),
    'wanted a second': round(running / intervalSeconds),
    'interval factor': round(stretch),
    'late, s': round(lateSeconds),
    'late checks': lateChecks,
    'gaps with reason service': gaps,
    ...(await measureRecovery(service, running, intervalSeconds)),
  };
}

/** Ends half of the jobs and waits until the intervals are normal again. A burst would be more checks in five seconds than the intervals allow. */
async function measureRecovery(
  service: BenchService,
  jobs: number,
  intervalSeconds: number,
): Promise<Fairness> {
  await service.endJobs(Math.ceil(jobs / 2));
  const left = jobs - Math.ceil(jobs / 2);
  const expected = (left * recoveryStepSeconds) / intervalSeconds;
  let most = 0;
  let count = sum(await service.countChecks());
  let steps = 0;
  for (; steps < maxRecoverySteps && service.readPace().stretch > 1; steps += 1) {
    await sleep(recoveryStepSeconds * 1000);
    const now = sum(await service.countChecks());
    most = Math.max(most, now - count);
    count = now;
  }
  return {
    'normal again after, s': steps < maxRecoverySteps ? steps * recoveryStepSeconds : 'not in 5 min',
    'most checks in 5 s of those planned': round(most / expected),
  };
}

const maxRecoverySteps = 60;

function sum(counts: readonly number[]): number {
  return counts.reduce((total, count) => total + count, 0);
}
