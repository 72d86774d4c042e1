import type { CoreDeps } from '../dependencies.ts';
import type { Run } from '../records/run.ts';
import type { AnalyzeInput, WorkflowState } from '../records/workflow.ts';
import { committed, conflict, retryConflicts } from '../retry-conflicts.ts';
import type { RunKind } from './run-kind.ts';

type BeginInput = Omit<Extract<AnalyzeInput, { operation: 'begin' }>, 'operation'>;

/**
 * Handles `begin`: starts a pending job, continues any other run where its last tick ended, and reports as done what has ended, is paused, or is of an older
 * generation. With `bursts`, the run takes the next burst number, which ends the ticks of an abandoned burst.
 */
export async function begin<Stored extends Run, Outcome, Change>(
  input: BeginInput,
  kind: RunKind<Stored, Outcome, Change>,
  { now }: Pick<CoreDeps, 'now'>,
): Promise<WorkflowState> {
  const bursts = input.bursts ?? false;
  return retryConflicts('The run changed too often while it was to begin', async () => {
    const found = await kind.find(input.job_id);
    if (!found || kind.isOver(found) || found.generation > input.generation)
      return committed(finishedState(input, found, bursts));
    const begun = await kind.begin(found, bursts);
    if (begun === undefined) return conflict;
    const { stored: run, closing } = begun;
    return committed({
      job_id: run.run_id,
      generation: run.generation,
      done: false,
      ...(bursts && { burst: run.burst, over: false, rests: false }),
      wait_until: kind.wakeAt(run, now()).toISOString(),
      capture: {
        ...markRun(run),
        source_id: run.source_id,
        tick: run.last_tick + 1,
        closing: run.next?.closing ?? closing,
        resolve_again: run.next?.resolve_again ?? false,
        seen: run.seen,
        motion: run.handed_over,
      },
    });
  });
}

/** Returns the workflow state of a run whose execution has nothing to do. */
export function finishedState(
  { job_id, generation }: Pick<WorkflowState, 'job_id' | 'generation'>,
  run: Run | undefined,
  bursts: boolean,
): WorkflowState {
  return {
    job_id,
    generation,
    done: true,
    ...(bursts && { over: true, rests: false }),
    wait_until: new Date(0).toISOString(),
    capture: {
      ...(run && markRun(run)),
      source_id: run?.source_id ?? job_id,
      tick: (run?.last_tick ?? 0) + 1,
      closing: true,
      resolve_again: false,
      seen: null,
      motion: null,
    },
  };
}

/** Returns the mark of watches in the workflow state. */
function markRun({ policy }: Run): Pick<WorkflowState['capture'], 'kind'> {
  return policy === 'watch' ? { kind: 'watch' } : {};
}
