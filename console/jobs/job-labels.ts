import type { JobConfig, JobDetail, JobEvent, JobStatus, JobSummary, MonitorConfig } from '../api/types.ts';
import type { Tone } from '../parts/badge.tsx';
import { duration } from '../time/format.ts';

export const statusTones: Record<JobStatus, Tone> = {
  pending: 'neutral',
  running: 'good',
  stopped: 'neutral',
  completed: 'accent',
  failed: 'bad',
};

const reasons: Record<string, string> = {
  condition_triggered: 'The condition held',
  max_triggers_reached: 'Maximum number of alerts reached',
  max_duration_reached: 'Maximum duration reached',
  max_windows_reached: 'All windows summarized',
  cancelled: 'Cancelled',
  stream_ended: 'The stream ended',
  stream_lost: 'The stream was lost',
  vlm_error: 'The model failed',
  internal_error: 'Internal error',
};

/** Returns the label of a stop reason, or the reason with spaces if it is unknown. */
export function reasonLabel(reason: string): string {
  return reasons[reason] ?? reason.replaceAll('_', ' ');
}

/** Returns true for jobs that have not ended. */
export function isActive(status: JobStatus): boolean {
  return status === 'pending' || status === 'running';
}

export function isMonitor(config: JobConfig): config is MonitorConfig {
  return 'condition' in config;
}

export function areDigestEvents(events: JobEvent[]): boolean {
  return events.some((event) => event.type === 'job_started' && !isMonitor(event.data.config));
}

/** Returns the heading of a job: the condition of a monitor, the window length of a digest. */
export function jobTitle(job: JobSummary | JobDetail): string {
  const config = 'details' in job ? job.details : job.config;
  return isMonitor(config)
    ? config.condition.trim() || '(blank)'
    : `Digest every ${config.window_minutes} min`;
}

export function typeLabel(type: JobSummary['job_type']): string {
  return type === 'live-monitor' ? 'Monitor' : 'Digest';
}

/** Returns the share of skipped captures as text, such as "98 %"; `null` before the first capture. */
export function skippedShare(stats: { frames_captured: number; frames_skipped: number }): string | null {
  const all = stats.frames_captured + stats.frames_skipped;
  return all === 0 ? null : percent(stats.frames_skipped / all);
}

/** Formats a share from 0 to 1 as percent. */
export function percent(share: number): string {
  return `${Math.round(share * 100)} %`;
}

/** Returns the configuration of a job as readable names and values: "Trigger cooldown", "30 s". */
export function configLabels(config: JobConfig): [name: string, value: string][] {
  // A copy, because the entries of an interface have the type any.
  return Object.entries({ ...config })
    .filter(([name]) => name !== 'clip_duration_seconds' || !onlyFrames(config))
    .map(([name, value]) => [nameWords(name), valueWords(name, value)]);
}

/** Returns true if the job captures no clip; the configuration has a clip length anyway. */
function onlyFrames(config: JobConfig): boolean {
  return 'input_mode' in config && config.input_mode === 'frames';
}

function nameWords(name: string): string {
  const words = name.replace(/^enable_|_(?:seconds|minutes)$/g, '').replaceAll('_', ' ');
  return (words.charAt(0).toUpperCase() + words.slice(1)).replace(/ url$/, ' URL');
}

function valueWords(name: string, value: string | number | boolean | string[] | null | undefined): string {
  if (value === null || value === undefined) return 'No limit';
  if (typeof value === 'boolean') return value ? 'On' : 'Off';
  if (Array.isArray(value)) return value.join(', ').replaceAll('_', ' ');
  if (typeof value === 'string') return value;
  if (name.endsWith('_seconds')) return duration(value);
  return name.endsWith('_minutes') ? duration(value * 60) : value.toLocaleString();
}
