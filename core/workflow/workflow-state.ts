import type { Observation, Policy } from '../policies/policy.ts';
import type { Run } from '../records/run.ts';
import type { BeginInput, TickInput, WorkflowState } from '../records/workflow.ts';
import { captureStateAfter } from '../tick/advance-run.ts';
import { planBurst } from './burst.ts';

/** Returns the workflow state in which a run continues where its last tick ended. */
export function stateAtBegin<R extends Run, Seen extends Observation>(
  run: R,
  policy: Policy<R, Seen>,
  bursts: boolean,
  now: Date,
): WorkflowState {
  return {
    run_id: run.run_id,
    generation: run.generation,
    done: false,
    ...(bursts && { burst: run.burst, over: false, rests: false }),
    wait_until: policy.wakeAt(run, now).toISOString(),
    capture: {
      ...describeNext(run, policy),
      closing: run.next?.closing ?? policy.beginsClosed(run, now),
      seen: run.seen,
      motion: run.handed_over,
    },
  };
}

/** Returns the workflow state after a tick, from the stored run and the capture of the tick. */
export function stateAfterTick<R extends Run, Seen extends Observation>(
  run: R,
  policy: Policy<R, Seen>,
  input: TickInput,
  now: Date,
): WorkflowState {
  const { capture, captured } = input;
  const { next } = run;
  const over =
    isAbandoned(run, input) ||
    policy.isOver(run) ||
    run.generation > input.generation ||
    (next?.done ?? false);
  const wakeAt = policy.wakeAt(run, now);
  return {
    run_id: input.run_id,
    generation: input.generation,
    ...planBurst(input, over, wakeAt, now),
    wait_until: wakeAt.toISOString(),
    capture: {
      ...describeNext(run, policy),
      closing: next?.closing ?? true,
      ...captureStateAfter(capture, captured, next ?? { judged: false }),
      ...(captured.kind === 'captured' && policy.wakes?.(run) && { wakes: { quiet: !captured.moved } }),
    },
  };
}

/** Returns true if a newer Begin took over the ticks of this generation: this burst was abandoned while it ran. */
export function isAbandoned({ burst, generation }: Run, input: TickInput): boolean {
  return input.burst !== undefined && generation === input.generation && burst > input.burst;
}

/** Returns the workflow state of a run whose execution has nothing to do. */
export function finishedState(
  { run_id, generation, bursts }: BeginInput,
  run: Run | undefined,
): WorkflowState {
  return {
    run_id,
    generation,
    done: true,
    ...(bursts && { over: true, rests: false }),
    wait_until: new Date(0).toISOString(),
    capture: {
      ...closed(run?.source_id ?? run_id, (run?.last_tick ?? 0) + 1),
      seen: null,
      motion: null,
    },
  };
}

/** Returns the workflow state after a tick of a run that is gone. */
export function goneState(input: TickInput, now: Date): WorkflowState {
  const { run_id, generation, capture, captured } = input;
  return {
    run_id,
    generation,
    ...planBurst(input, true, new Date(0), now),
    wait_until: new Date(0).toISOString(),
    capture: {
      ...closed(capture.source_id, capture.tick + 1),
      ...captureStateAfter(capture, captured, { judged: false }),
    },
  };
}

function describeNext<R extends Run, Seen extends Observation>(run: R, policy: Policy<R, Seen>) {
  return {
    ...(policy.probesLost && { probes_lost: true as const }),
    ...(policy.confirms(run) && { confirms: true as const }),
    source_id: run.source_id,
    tick: run.last_tick + 1,
    resolve_again: run.next?.resolve_again ?? false,
  };
}

/** Returns a tick that captures nothing. */
function closed(sourceId: string, tick: number) {
  return { source_id: sourceId, tick, closing: true, resolve_again: false };
}
