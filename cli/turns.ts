import { createFairTurns } from '../adapters/embedded/fair-turns.ts';
import { setSystemTimer } from '../adapters/timer.ts';
import type { StreamTurns } from '../core/ports/stream-turns.ts';
import type { Settings } from './settings.ts';

/** Time that a call or a tick waits for its turn: with the capture, below the 60 s that the workflow gives a task. */
const maxWaitMs = 20_000;

/** Turns of ticks and of calls, apart from each other: probes of callers hold up no running job. */
export function createTurns({ capturesAtOnce }: Settings): Record<'ticks' | 'calls', StreamTurns> {
  const maxCalls = Math.ceil(capturesAtOnce / 4);
  const common = { maxWaitMs, setTimer: setSystemTimer };
  return {
    ticks: createFairTurns({ ...common, max: capturesAtOnce, maxPerCaller: capturesAtOnce }),
    calls: createFairTurns({ ...common, max: maxCalls, maxPerCaller: Math.ceil(maxCalls / 2) }),
  };
}
