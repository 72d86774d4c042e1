import { z } from 'zod';
import { rules } from '../rules.ts';
import { addSeconds } from '../time.ts';
import type { CutBurst, TickInput, WorkflowState } from '../records/workflow.ts';

/** Fields of the workflow state that only bursts have, and `done`, which they change. */
type BurstState = Pick<WorkflowState, 'done' | 'burst' | 'over' | 'rests'>;

/**
 * Plans whether the next tick runs in this burst. On AWS, an Express execution of at most five minutes (a burst) runs
 * some ticks, and the execution of the job starts one burst after the other. `over` is true if the execution of the job
 * ends.
 */
export function planBurst(
  { burst, burst_started_at: startedAt, burst_seconds: seconds }: TickInput,
  over: boolean,
  wakeAt: Date,
  now: Date,
): BurstState {
  if (burst === undefined || startedAt === undefined || seconds === undefined) return { done: over };
  const waitSeconds = (wakeAt.getTime() - now.getTime()) / 1000;
  const ends =
    wakeAt.getTime() > Date.parse(startedAt) + seconds * 1000 || waitSeconds > rules.maxBurstWaitSeconds;
  return { done: over || ends, burst, over, rests: !over && ends && waitSeconds > rules.minRestSeconds };
}

/** Returns the time that is left for the model in a burst that starts no task after its timeout, in seconds. */
export function modelSeconds(
  { burst_started_at: startedAt, burst_hold_seconds: held = rules.burstTimeoutSeconds }: TickInput,
  maxSeconds: number,
  now: Date,
): number {
  if (startedAt === undefined) return maxSeconds;
  const left = held - (now.getTime() - Date.parse(startedAt)) / 1000 - commitSeconds;
  return Math.max(minModelSeconds, Math.min(maxSeconds, left));
}

/** Time for the commit after a model call, in seconds. */
const commitSeconds = 5;
/** A model call that may take less is not worth its price. */
const minModelSeconds = 15;

/** Time for the last tick of a burst, in seconds. */
const lastTickSeconds = rules.burstTimeoutSeconds - rules.maxBurstSeconds;

/**
 * Schema of the cuts that a deployment has seen: their number, the shortest time that a burst was held, and the time
 * from which they no longer count.
 */
export const burstCutsSchema = z.object({
  cuts: z.int().positive(),
  held_seconds: z.number().positive(),
  until: z.iso.datetime(),
});
export type BurstCuts = z.infer<typeof burstCutsSchema>;

/**
 * Returns the time for which the platform held a burst whose call failed, in seconds. Returns undefined for a call that
 * was refused, and for a burst that had its whole time.
 */
export function heldSeconds({ began_at, ended_at }: CutBurst): number | undefined {
  const seconds = (Date.parse(ended_at) - Date.parse(began_at)) / 1000;
  return seconds < rules.minHoldSeconds || seconds >= rules.burstTimeoutSeconds ? undefined : seconds;
}

/** Adds a cut to those that count. */
export function addCut(before: BurstCuts | undefined, seconds: number, now: Date): BurstCuts {
  const counting = before !== undefined && Date.parse(before.until) > now.getTime() ? before : undefined;
  return {
    cuts: (counting?.cuts ?? 0) + 1,
    held_seconds: Math.min(counting?.held_seconds ?? Infinity, seconds),
    until: addSeconds(now, rules.shortBurstsSeconds).toISOString(),
  };
}

/**
 * Shortens the burst of a tick to the time that bursts were held. Changes nothing before the third cut: one can be a
 * lost connection.
 */
export function shortenBurst<Input extends TickInput>(
  input: Input,
  cuts: BurstCuts | undefined,
  now: Date,
): Input {
  if (cuts === undefined || cuts.cuts < rules.cutsToShorten || Date.parse(cuts.until) <= now.getTime())
    return input;
  const { burst_seconds: planned } = input;
  if (planned === undefined) return input;
  const seconds = Math.max(1, Math.floor(cuts.held_seconds - lastTickSeconds));
  return {
    ...input,
    burst_seconds: Math.min(planned, seconds),
    burst_hold_seconds: cuts.held_seconds,
  };
}

/** Adds the planned start of the next burst to a state that starts one: a cut is measured from there. */
export function withNextBurst(state: WorkflowState, now: Date): WorkflowState {
  if (state.burst === undefined) return state;
  return { ...state, next_burst_at: state.rests ? state.wait_until : now.toISOString() };
}
