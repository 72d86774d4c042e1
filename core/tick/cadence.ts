import type { Job } from '../records/job.ts';

/** Returns the time between two captures of a job, in seconds. */
export function intervalSeconds(job: Job): number {
  return job.job_type === 'live-monitor' ? job.config.interval_seconds : job.config.capture_interval_seconds;
}

/** Returns the maximum duration of a job, in seconds. */
export function durationSeconds(job: Job): number {
  return job.job_type === 'live-monitor'
    ? job.config.monitor_duration_seconds
    : job.config.digest_duration_seconds;
}
