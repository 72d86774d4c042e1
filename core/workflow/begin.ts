import type { CoreDeps } from '../dependencies.ts';
import type { AnalyzeInput, WorkflowState } from '../records/workflow.ts';
import { committed, conflict, retryConflicts } from '../retry-conflicts.ts';
import type { RunKind, RunView } from './run-kind.ts';

type BeginInput = Omit<Extract<AnalyzeInput, { operation: 'begin' }>, 'operation'>;

/**
 * Handles `begin`: starts a pending job, continues any other run where its last tick ended, and reports as done what has ended, is paused, or is of an older
 * generation. With `bursts`, the run takes the next burst number, which ends the ticks of an abandoned burst.
 */
export async function begin<Stored, Outcome, Change>(
  input: BeginInput,
  kind: RunKind<Stored, Outcome, Change>,
  { now }: Pick<CoreDeps, 'now'>,
): Promise<WorkflowState> {
  const bursts = input.bursts ?? false;
  return retryConflicts('The run changed too often while it was to begin', async () => {
    const found = await kind.find(input.job_id);
    const before = found && kind.view(found, now());
    if (!found || !before || before.isOver || before.generation > input.generation)
      return committed(finishedState(input, before, bursts));
    const begun = await kind.begin(found, bursts);
    if (begun === undefined) return conflict;
    const view = kind.view(begun.stored, now());
    const { seen, motion, closing } = begun.capture;
    return committed({
      job_id: view.id,
      generation: view.generation,
      done: false,
      ...(bursts && { burst: view.burst, over: false, rests: false }),
      wait_until: view.wakeAt.toISOString(),
      capture: {
        ...(view.kind && { kind: view.kind }),
        source_id: view.sourceId,
        tick: view.lastTick + 1,
        closing: view.next?.closing ?? closing,
        resolve_again: view.next?.resolve_again ?? false,
        seen,
        motion,
      },
    });
  });
}

/** Returns the workflow state of a run whose execution has nothing to do. */
export function finishedState(
  { job_id, generation }: Pick<WorkflowState, 'job_id' | 'generation'>,
  view: Pick<RunView, 'kind' | 'sourceId' | 'lastTick'> | undefined,
  bursts: boolean,
): WorkflowState {
  return {
    job_id,
    generation,
    done: true,
    ...(bursts && { over: true, rests: false }),
    wait_until: new Date(0).toISOString(),
    capture: {
      ...(view?.kind && { kind: view.kind }),
      source_id: view?.sourceId ?? job_id,
      tick: (view?.lastTick ?? 0) + 1,
      closing: true,
      resolve_again: false,
      seen: null,
      motion: null,
    },
  };
}
