import { createHash, randomBytes, randomUUID } from 'node:crypto';
import type { KeyCrypto } from '../core/access/api-key.ts';
import { computeStreamPhase } from '../core/stream/stream-phase.ts';
import { createSteadyClock } from './steady-clock.ts';

/** Hashes and random bytes of Node. */
export const nodeKeyCrypto: KeyCrypto = {
  sha256: (text) => createHash('sha256').update(text).digest('hex'),
  randomBytes: (length) => randomBytes(length),
};

/** Creates the clocks, ids and randomness that a service hands to the core. `wakeUpStepMs` is the precision of its wake-ups, in milliseconds. */
export function createMachine(wakeUpStepMs: number) {
  return {
    ...nodeKeyCrypto,
    now: () => new Date(),
    /** Monotonic, for measurements within this process: a clock set back cannot extend them. */
    steadyNow: createSteadyClock({ wallMs: () => Date.now(), monotonicMs: () => performance.now() }),
    newId: () => randomUUID(),
    random: Math.random,
    streamPhase: (url: string) => computeStreamPhase(url, nodeKeyCrypto.sha256, wakeUpStepMs),
  };
}
