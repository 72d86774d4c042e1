import type { NewEvent } from '../../../core/records/event.ts';
import type { JobStore } from '../../../core/ports/job-store.ts';
import type { MetricName, MetricsSink } from '../../../core/ports/metrics.ts';

/** Adds metrics to a job store: counts each committed event once. */
export function instrumentJobs(jobs: JobStore, measurements: MetricsSink): JobStore {
  return {
    ...jobs,
    commit: async (change) => {
      const result = await jobs.commit(change);
      if (result === 'committed')
        for (const name of change.events.flatMap(instrumentIn)) measurements.add(name);
      return result;
    },
  };
}

function instrumentIn(event: NewEvent): MetricName[] {
  switch (event.type) {
    case 'job_started':
      return ['JobsStarted'];
    case 'progress':
      return event.data.prefilter_skipped ? ['Ticks', 'FramesSkipped'] : ['Ticks'];
    case 'watch_triggered':
      return ['Triggers'];
    case 'job_stopped':
      return endings[event.data.status];
    case 'summary_generated':
    case 'error':
      return [];
  }
}

const endings = {
  pending: [],
  running: [],
  stopped: ['JobsStopped'],
  completed: ['JobsCompleted'],
  failed: ['JobsFailed'],
} satisfies Record<string, MetricName[]>;
