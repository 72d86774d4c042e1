import { createFairTurns } from '../adapters/embedded/load/fair-turns.ts';
import { setSystemTimer } from '../core/time-limit.ts';
import type { StreamTurns } from '../core/ports/stream-turns.ts';
import type { Settings } from './settings.ts';

/** Maximum wait for a turn, in milliseconds: with the capture below the task timeout of the workflow, 60 s. */
const maxWaitMs = 20_000;

/** Creates separate turns for ticks and for calls, so that probes of callers delay no running job. */
export function createTurns({ capturesAtOnce }: Settings): Record<'ticks' | 'calls', StreamTurns> {
  const maxCalls = Math.ceil(capturesAtOnce / 4);
  const common = { maxWaitMs, setTimer: setSystemTimer };
  return {
    ticks: createFairTurns({ ...common, max: capturesAtOnce, maxPerCaller: capturesAtOnce }),
    calls: createFairTurns({ ...common, max: maxCalls, maxPerCaller: Math.ceil(maxCalls / 2) }),
  };
}
