import type { MonitorJob } from '../records/job.ts';
import type { JobKind } from './job-kind.ts';

export const monitorKind: JobKind<MonitorJob> = {
  name: 'Monitor',
  intervalSeconds: ({ config }) => config.interval_seconds,
  durationSeconds: ({ config }) => config.monitor_duration_seconds,
  sightEnd: () => null,
  mapTimes: ({ last_trigger_at: at }, { past }) => ({ last_trigger_at: past(at) }),
  findings: { type: 'watch_triggered', name: 'triggers' },
  stats: () => ({}),
};
