import type { Job } from '../records/job.ts';

/** How often a job captures, in seconds. */
export function intervalSeconds(job: Job): number {
  return job.job_type === 'live-monitor' ? job.config.interval_seconds : job.config.capture_interval_seconds;
}

/** How long a job runs at most, in seconds. */
export function durationSeconds(job: Job): number {
  return job.job_type === 'live-monitor'
    ? job.config.monitor_duration_seconds
    : job.config.digest_duration_seconds;
}
