import type { RunChange, RunEvent, RunStore } from '../core/ports/run-store.ts';
import type { JobEvent } from '../core/records/event.ts';
import { isJob, isWatch, jobPolicies } from '../core/records/run.ts';
import type { Run } from '../core/records/run.ts';
import type { WatchEvent } from '../core/records/watch-event.ts';

/** Runs of some policies, with their events. */
type Selection<Stored extends Run, Event extends RunEvent> = {
  policies: readonly Stored['policy'][];
  isEvent: (event: RunEvent) => event is Event;
  isRun: (run: Run) => run is Stored;
};

/** Returns the store of some runs: any other is as if absent. */
export function selectRuns<Stored extends Run, Event extends RunEvent, Change extends RunChange>(
  runs: RunStore,
  { policies, isEvent, isRun }: Selection<Stored, Event>,
): RunStore<Stored, Event, Change> {
  const select = (run: Run | undefined) => (run && isRun(run) ? run : undefined);
  return {
    ...runs,
    get: async (runId, now) => select(await runs.get(runId, now)),
    getIncludingEnded: async (runId) => select(await runs.getIncludingEnded(runId)),
    events: async (...asked) => (await runs.events(...asked)).filter(isEvent),
    event: async (...asked) => {
      const event = await runs.event(...asked);
      return event && isEvent(event) ? event : undefined;
    },
    dueForRepair: async (now, limit) => runs.dueForRepair(now, limit, policies),
  };
}

const isJobEvent = (event: RunEvent): event is JobEvent => 'job_id' in event;
const isWatchEvent = (event: RunEvent): event is WatchEvent => 'watch_id' in event;

export const ofJobs = { policies: jobPolicies, isRun: isJob, isEvent: isJobEvent };
export const ofWatches = { policies: ['watch'], isRun: isWatch, isEvent: isWatchEvent } as const;
