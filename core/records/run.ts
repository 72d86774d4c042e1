import { z } from 'zod';
import { digestJobSchema, monitorJobSchema } from './job.ts';
import type { Job } from './job.ts';
import { watchRunSchema } from './watch-run.ts';
import type { WatchRun } from './watch-run.ts';

/** Stream that is checked repeatedly, under one policy. */
export const runSchema = z.discriminatedUnion('policy', [monitorJobSchema, digestJobSchema, watchRunSchema]);
export type Run = z.infer<typeof runSchema>;

export const policySchema = z.enum(['monitor', 'digest', 'watch']);
export type Policy = Run['policy'];

/** Policies of jobs. */
export const jobPolicies = ['monitor', 'digest'] as const satisfies readonly Job['policy'][];

export function isJob(run: Run): run is Job {
  return run.policy !== 'watch';
}

export function isWatch(run: Run): run is WatchRun {
  return run.policy === 'watch';
}

/** Returns the key of a run in deliveries and logs, which name its resource. */
export function toRunKey({ policy, run_id }: Run): { run: 'job' | 'watch'; run_id: string } {
  return { run: policy === 'watch' ? 'watch' : 'job', run_id };
}
