import type { NewEvent } from '../../../core/records/event.ts';
import { isJobEvent } from '../../../core/records/run.ts';
import type { RunStore } from '../../../core/ports/runs.ts';
import type { MetricName, MetricsSink } from '../../../core/ports/observability.ts';

/** Adds metrics to a store of runs: counts each committed event of a job once. */
export function instrumentRuns(runs: RunStore, measurements: MetricsSink): RunStore {
  return {
    ...runs,
    commit: async (change) => {
      const result = await runs.commit(change);
      if (result === 'committed')
        for (const name of change.events.filter(isJobEvent).flatMap(instrumentIn)) measurements.add(name);
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
    default:
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
