import type { JobConfig, JobDetail, JobEvent, JobStatus, JobSummary, MonitorConfig } from '../api/types.ts';
import type { Tone } from '../parts/badge.tsx';

/** How jobs are spoken of. */

export const statusTones: Record<JobStatus, Tone> = {
  pending: 'neutral',
  running: 'good',
  stopped: 'neutral',
  completed: 'accent',
  failed: 'bad',
};

const reasons: Record<string, string> = {
  condition_triggered: 'The condition held',
  max_triggers_reached: 'All alerts were sent',
  max_duration_reached: 'Its time was over',
  max_windows_reached: 'All windows are summarised',
  cancelled: 'Cancelled',
  stream_ended: 'The stream ended',
  stream_lost: 'The stream was lost',
  vlm_error: 'The model did not answer',
  internal_error: 'A fault of the service',
};

export function reasonWords(reason: string): string {
  return reasons[reason] ?? reason.replaceAll('_', ' ');
}

export function isActive(status: JobStatus): boolean {
  return status === 'pending' || status === 'running';
}

export function isMonitor(config: JobConfig): config is MonitorConfig {
  return 'condition' in config;
}

export function isOfDigest(events: JobEvent[]): boolean {
  return events.some((event) => event.type === 'job_started' && !isMonitor(event.data.config));
}

export function titleOf(job: JobSummary | JobDetail): string {
  const config = 'details' in job ? job.details : job.config;
  return isMonitor(config) ? config.condition : `Digest every ${config.window_minutes} min`;
}

export function typeWords(type: JobSummary['job_type']): string {
  return type === 'live-monitor' ? 'Monitor' : 'Digest';
}

/** "98 %"; null where nothing was captured yet. */
export function skippedShare(stats: { frames_captured: number; frames_skipped: number }): string | null {
  const all = stats.frames_captured + stats.frames_skipped;
  return all === 0 ? null : percent(stats.frames_skipped / all);
}

export function percent(share: number): string {
  return `${Math.round(share * 100)} %`;
}
