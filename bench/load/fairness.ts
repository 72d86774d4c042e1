import { setTimeout as sleep } from 'node:timers/promises';
import { quantile, round } from '../harness.ts';
import type { BenchService } from '../service.ts';

type FairnessOptions = {
  jobs: number;
  intervalSeconds: number;
  seconds: number;
  /** Starts one job; returns false if the service refuses it because it is overloaded. */
  startJob: (index: number) => Promise<boolean>;
};

/** Time between two counts of checks after half of the jobs have ended, in seconds. */
const recoveryStepSeconds = 5;
const maxRecoverySteps = 60;

/**
 * Overloads the service, and returns how it treats its jobs: creations that it refuses, checks by job, intervals, gaps, and the recovery once half of the jobs
 * have ended. Detection takes ten seconds, so jobs that are created in that time overload the service; later ones are refused.
 */
export async function measureFairness(
  service: BenchService,
  { jobs, intervalSeconds, seconds, startJob }: FairnessOptions,
) {
  let refused = 0;
  for (let index = 0; index < jobs; index += 1) if (!(await startJob(index))) refused += 1;
  // The factor of the intervals settles: until then, checks queue.
  await sleep(Math.max(6 * intervalSeconds, 60) * 1000);
  const before = await service.countChecks();
  await sleep(seconds * 1000);
  const after = await service.countChecks();
  const checks = after.map((count, index) => count - (before[index] ?? 0));
  const { lateSeconds, stretch } = service.readPace();
  const lateRefused = !(await startJob(0));
  const gaps = await service.countGaps('service');
  await service.endJobs(Math.ceil(service.jobIds.length / 2));
  let steps = 0;
  for (; steps < maxRecoverySteps && service.readPace().stretch > 1; steps += 1)
    await sleep(recoveryStepSeconds * 1000);
  return {
    'jobs that run': checks.length,
    'creations refused': refused,
    'refused while late': lateRefused ? 'yes' : 'no',
    'checks of the median job': quantile(checks, 0.5),
    'least of median': round(Math.min(...checks) / quantile(checks, 0.5)),
    'interval factor': round(stretch),
    'late, s': round(lateSeconds),
    'gaps with reason service': gaps,
    'normal again after, s': steps < maxRecoverySteps ? steps * recoveryStepSeconds : 'not in 5 min',
  };
}
