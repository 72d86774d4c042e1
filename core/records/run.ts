import type { DigestJob, MonitorJob } from './job.ts';
import type { WatchRun } from './watch-run.ts';

/** Stream that is checked repeatedly, under one policy. */
export type Run = MonitorJob | DigestJob | WatchRun;
