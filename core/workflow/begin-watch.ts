import type { CoreDeps } from '../dependencies.ts';
import type { StoredWatch } from '../ports/watch-store.ts';
import type { AnalyzeInput, WorkflowState } from '../records/workflow.ts';
import { committed, conflict, retryConflicts } from '../retry-conflicts.ts';
import { watchWakeUpTime } from '../watch/next-watch-tick.ts';
import { scheduleAt } from '../watch/schedule.ts';

type Deps = Pick<CoreDeps, 'watches' | 'now'>;
type BeginInput = Extract<AnalyzeInput, { operation: 'begin' }>;

/** Handles `begin` of a watch: continues where its last tick ended. Reports a paused or deleted watch, and an older generation, as done. */
export async function beginWatch(input: BeginInput, deps: Deps): Promise<WorkflowState> {
  return retryConflicts('The watch changed too often while its execution was to begin', async () => {
    const stored = await deps.watches.get(input.job_id);
    if (!stored || isOver(stored, input.generation)) return committed(finished(input));
    const { run } = stored;
    if (!input.bursts) return committed(resume(stored, deps.now()));
    const state = { ...run.state, burst: run.state.burst + 1 };
    const result = await deps.watches.commit({
      watchId: input.job_id,
      expectedVersion: run.version,
      set: { state },
      events: [],
      alerts: [],
      hours: [],
    });
    if (result !== 'committed') return conflict;
    const begun = resume({ ...stored, run: { ...run, state } }, deps.now());
    return committed({ ...begun, burst: state.burst, over: false, rests: false });
  });
}

/** Returns true if this execution has no further tick. */
export function isOver({ run }: StoredWatch, generation: number): boolean {
  return run.generation > generation || run.state.causes.paused !== null;
}

function finished({ job_id, generation, bursts }: BeginInput): WorkflowState {
  return {
    job_id,
    generation,
    done: true,
    ...(bursts && { over: true, rests: false }),
    wait_until: new Date(0).toISOString(),
    capture: {
      kind: 'watch',
      source_id: job_id,
      tick: 1,
      closing: true,
      resolve_again: false,
      seen: null,
      motion: null,
    },
  };
}

function resume({ watch, run }: StoredWatch, now: Date): WorkflowState {
  const { next, last_tick, seen, handed_over: motion } = run.state;
  return {
    job_id: watch.watch_id,
    generation: run.generation,
    done: false,
    wait_until: watchWakeUpTime(run.state, watch.config, now).toISOString(),
    capture: {
      kind: 'watch',
      source_id: watch.source_id,
      tick: last_tick + 1,
      closing: next?.closing ?? !scheduleAt(watch.config.schedule, now).active,
      resolve_again: next?.resolve_again ?? false,
      seen,
      motion,
    },
  };
}
