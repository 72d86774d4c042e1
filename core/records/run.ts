import type { DigestJob, MonitorJob } from './job.ts';
import type { WatchRun } from './watch-run.ts';

/** Stream that is checked repeatedly, under one policy. */
export type Run = MonitorJob | DigestJob | WatchRun;

/** Returns the key of a run in deliveries and logs, which name its resource. */
export function toRunKey({ policy, run_id }: Run): { run: 'job' | 'watch'; run_id: string } {
  return { run: policy === 'watch' ? 'watch' : 'job', run_id };
}
