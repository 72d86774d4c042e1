import type { DatabaseSync } from 'node:sqlite';
import { createRunStores } from '../../cli/service/open-stores.ts';
import type {
  JobChange,
  JobStore,
  RunChange,
  RunStore,
  WatchChange,
  WatchStore,
} from '../../core/ports/runs.ts';
import type { JobEvent } from '../../core/records/event.ts';
import type { Job } from '../../core/records/job.ts';
import {
  isJob,
  isJobEvent,
  isWatch,
  isWatchEvent,
  type Run,
  type RunEvent,
  type WatchRun,
} from '../../core/records/run.ts';
import type { WatchEvent } from '../../core/records/watch-event.ts';

/** Store of runs as tests of one resource read it. */
export type RunsOf<Stored extends Run, Event extends RunEvent, Change extends RunChange> = Omit<
  RunStore,
  'get' | 'getIncludingEnded' | 'events' | 'event' | 'commit'
> & {
  get(runId: string, now: Date): Promise<Stored | undefined>;
  getIncludingEnded(runId: string): Promise<Stored | undefined>;
  events(runId: string, after: number, limit: number, now: Date): Promise<Event[]>;
  event(runId: string, sequence: number): Promise<Event | undefined>;
  commit(change: Change): Promise<'committed' | 'outdated'>;
};

/** Runs of jobs, with the store of jobs. */
export type JobRuns = JobStore & RunsOf<Job, JobEvent, JobChange>;
/** Runs of watches, with the store of watches. */
export type WatchRuns = WatchStore & RunsOf<WatchRun, WatchEvent, WatchChange>;

export function jobRuns<Store extends JobStore>(runs: RunStore, jobs: Store): Store & JobRuns {
  return { ...jobs, ...selectRuns<Job, JobEvent, JobChange>(runs, isJob, isJobEvent) };
}

export function watchRuns<Store extends WatchStore>(runs: RunStore, watches: Store): Store & WatchRuns {
  return { ...watches, ...selectRuns<WatchRun, WatchEvent, WatchChange>(runs, isWatch, isWatchEvent) };
}

/** Adds the runs of each resource to its store. */
export function viewRuns<Jobs extends JobStore, Watches extends WatchStore, Others>(
  stores: { runs: RunStore; jobs: Jobs; watches: Watches } & Others,
): Omit<Others, 'jobs' | 'watches'> & { runs: RunStore; jobs: Jobs & JobRuns; watches: Watches & WatchRuns } {
  const { runs, jobs, watches } = stores;
  return { ...stores, jobs: jobRuns(runs, jobs), watches: watchRuns(runs, watches) };
}

/** Creates the stores of runs of one machine. */
export function embeddedRuns(database: DatabaseSync, notify?: (logId: string) => void) {
  return viewRuns(createRunStores(database, notify));
}

function selectRuns<Stored extends Run, Event extends RunEvent, Change extends RunChange>(
  runs: RunStore,
  isStored: (run: Run) => run is Stored,
  isOfLog: (event: RunEvent) => event is Event,
): RunsOf<Stored, Event, Change> {
  const select = (run: Run | undefined) => (run && isStored(run) ? run : undefined);
  return {
    ...runs,
    get: async (runId, now) => select(await runs.get(runId, now)),
    getIncludingEnded: async (runId) => select(await runs.getIncludingEnded(runId)),
    events: async (...asked) => (await runs.events(...asked)).filter(isOfLog),
    event: async (...asked) => {
      const event = await runs.event(...asked);
      return event && isOfLog(event) ? event : undefined;
    },
  };
}
