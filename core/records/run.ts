import { z } from 'zod';
import { jobSchemas, type Job } from './job.ts';
import type { JobEvent } from './event.ts';
import type { WatchEvent } from './watch-event.ts';
import { runProgressSchema } from './run-base.ts';
import { watchSchema } from './watch.ts';
import { watchStateSchema, watchStatusSchema } from './watch-state.ts';

const timestampSchema = z.iso.datetime();

/** Part of a stored watch that every commit writes. */
export const watchProgressSchema = runProgressSchema.extend({
  status: watchStatusSchema,
  /** Time of the deletion; `null` for a watch that exists. */
  deleted_at: timestampSchema.nullable(),
  state: watchStateSchema,
});
export type WatchProgress = z.infer<typeof watchProgressSchema>;

/** Watch as stored: its configuration, which only callers write, and its progress. */
export const watchRunSchema = watchSchema.extend(watchProgressSchema.shape);
export type WatchRun = z.infer<typeof watchRunSchema>;

/** Stream that is checked repeatedly, under one policy. */
export const runSchema = z.discriminatedUnion('policy', [watchRunSchema, ...jobSchemas]);
export type Run = z.infer<typeof runSchema>;

export type PolicyName = Run['policy'];
export const policySchema = z.enum(runSchema.options.map(({ shape }) => shape.policy.value));

export function isJob(run: Run): run is Job {
  return run.policy !== 'watch';
}

export function isWatch(run: Run): run is WatchRun {
  return run.policy === 'watch';
}

/** Returns undefined for runs that belong to no job. */
export function asJob(run: Run | undefined): Job | undefined {
  return run && isJob(run) ? run : undefined;
}

/** Returns undefined for runs that belong to no watch. */
export function asWatch(run: Run | undefined): WatchRun | undefined {
  return run && isWatch(run) ? run : undefined;
}

export type RunEvent = JobEvent | WatchEvent;

export function isJobEvent(event: RunEvent): event is JobEvent {
  return 'job_id' in event;
}

export function isWatchEvent(event: RunEvent): event is WatchEvent {
  return 'watch_id' in event;
}

/** Returns the key of a run in deliveries and logs, which name its resource. */
export function toRunKey({ policy, run_id }: Run): { run: 'job' | 'watch'; run_id: string } {
  return { run: policy === 'watch' ? 'watch' : 'job', run_id };
}

/** Returns the key of a run and the name that its owner knows, for the log. */
export function toLogKey(run: Run): ReturnType<typeof toRunKey> & { name?: string } {
  return { ...toRunKey(run), ...(isWatch(run) && { name: run.config.name }) };
}
