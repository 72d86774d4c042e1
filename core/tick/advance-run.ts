import type { CaptureState } from '../records/capture.ts';
import type { NextTick, RunProgress } from '../records/run-base.ts';
import type { CaptureOutput, TickInput } from '../records/workflow.ts';
import { rules } from '../rules.ts';
import { addSeconds } from '../time.ts';

/**
 * Returns the fields that a tick sets in every run. The last tick of a generation hands the run over to the next one;
 * so do a tick before a long wait, since an execution on AWS ends after two days, and a tick that a change overtook:
 * the generation of the change may wait for longer than the tick plans.
 */
export function advanceRun(
  run: RunProgress,
  next: NextTick,
  { generation, capture, captured }: Pick<TickInput, 'generation' | 'capture' | 'captured'>,
  now: Date,
) {
  const ticks = run.execution_ticks + 1;
  const isOvertaken = run.generation !== generation;
  const waitSeconds = (Date.parse(next.wait_until) - now.getTime()) / 1000;
  const handsOver =
    !next.done &&
    (isOvertaken ||
      ticks >= rules.ticksPerExecution ||
      run.burst >= rules.beginsPerExecution ||
      waitSeconds >= rules.handOverWaitSeconds);
  const { seen, motion } = captureStateAfter(capture, captured, next);
  return {
    last_tick: run.last_tick + 1,
    next,
    seen: captured.kind === 'captured' ? seen : run.seen,
    lease_until: leaseUntil(new Date(next.wait_until)),
    ...(handsOver
      ? nextGeneration(run, isOvertaken ? null : motion)
      : { execution_ticks: ticks, handed_over: null }),
  };
}

/**
 * Returns the end of the lease of a run that wakes at `wakeAt`. A run that is silent beyond its lease counts as lost.
 */
export function leaseUntil(wakeAt: Date): string {
  return addSeconds(wakeAt, rules.leaseMarginSeconds).toISOString();
}

/**
 * Returns the fields of a run whose next tick belongs to another execution. `motion` is the motion reference of its
 * first capture.
 */
export function nextGeneration({ generation }: Pick<RunProgress, 'generation'>, motion: string | null) {
  return { generation: generation + 1, execution_ticks: 0, burst: 0, handed_over: motion };
}

/**
 * Returns the state for the next capture: this capture is its motion reference if the model saw it. A tick without a
 * capture keeps the state. The next capture scans from the same position if nothing was judged because the model failed
 * or the picture was there before.
 */
export function captureStateAfter(
  before: CaptureState,
  captured: CaptureOutput,
  { judged, rescans }: Pick<NextTick, 'judged' | 'rescans'>,
): CaptureState {
  if (captured.kind !== 'captured') return { seen: before.seen, motion: before.motion };
  const scan = rescans || captured.repeated ? before.seen?.position.scan : undefined;
  const { position, ...seen } = captured.seen;
  return {
    seen: { ...seen, position: { ...position, ...(scan !== undefined && { scan }) } },
    motion: judged ? captured.motion_if_judged : captured.motion_if_skipped,
  };
}
