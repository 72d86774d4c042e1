import type { CoreDeps } from '../dependencies.ts';
import type { Observation, Policy } from '../policies/policy.ts';
import { runLog } from '../ports/log.ts';
import type { RunStore } from '../ports/run-store.ts';
import { applyRunChange } from '../event/stored-run.ts';
import { toLogKey, type Run } from '../records/run.ts';
import type { BeginInput, WorkflowState } from '../records/workflow.ts';
import { committed, conflict, retryConflicts } from '../retry-conflicts.ts';
import { finishedState, stateAtBegin } from './workflow-state.ts';

/**
 * Handles `begin`: starts a pending run, continues any other where its last tick ended, and reports as done what has
 * ended, is paused, or is of an older generation. With `bursts`, the run takes the next burst number, which ends the
 * ticks of an abandoned burst. `first` is the run as it was read for its policy.
 */
export async function begin<R extends Run, Seen extends Observation>(
  first: R,
  policy: Policy<R, Seen>,
  input: BeginInput,
  { runs, now, log }: Pick<CoreDeps, 'now' | 'log'> & { runs: Pick<RunStore, 'get' | 'commit'> },
): Promise<WorkflowState> {
  const bursts = input.bursts ?? false;
  let unread: R | undefined = first;
  return retryConflicts('The run changed too often while it was to begin', async () => {
    const stored: Run | undefined = unread ?? (await runs.get(input.run_id, now()));
    unread = undefined;
    if (!stored || !policy.owns(stored) || policy.isOver(stored) || stored.generation > input.generation)
      return committed(finishedState(input, stored));
    let run: R = stored;
    const started = policy.begin(run, now());
    if (started) {
      if ((await runs.commit(started)) !== 'committed') return conflict;
      run = applyRunChange(run, started);
      runLog(log, toLogKey(run)).info('Job started', { interval_seconds: policy.interval(run) });
    }
    if (bursts) {
      const taken = {
        runId: run.run_id,
        expectedVersion: run.version,
        set: { burst: run.burst + 1 },
        events: [],
      };
      if ((await runs.commit(taken)) !== 'committed') return conflict;
      run = applyRunChange(run, taken);
    }
    return committed(stateAtBegin(run, policy, bursts, now()));
  });
}
