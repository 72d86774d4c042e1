import { rules } from '../rules.ts';
import type { AnalyzeInput, WorkflowState } from '../records/workflow.ts';

type TickInput = Extract<AnalyzeInput, { operation: 'analyze' }>;
/** Fields of the workflow state that only bursts have, and `done`, which they change. */
type BurstState = Pick<WorkflowState, 'done' | 'burst' | 'over' | 'rests'>;

/**
 * Plans whether the next tick runs in this burst. On AWS, an Express execution of at most five minutes (a burst) runs some ticks, and the
 * execution of the job starts one burst after the other. `over` is true if the execution of the job ends.
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
  { burst_started_at: startedAt }: TickInput,
  maxSeconds: number,
  now: Date,
): number {
  if (startedAt === undefined) return maxSeconds;
  const left = rules.burstTimeoutSeconds - (now.getTime() - Date.parse(startedAt)) / 1000 - commitSeconds;
  return Math.max(minModelSeconds, Math.min(maxSeconds, left));
}

/** Time for the commit after a model call, in seconds. */
const commitSeconds = 5;
/** A model call that may take less is not worth its price. */
const minModelSeconds = 15;
