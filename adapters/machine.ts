import { createHash, randomBytes, randomUUID } from 'node:crypto';
import type { KeyCrypto } from '../core/access/api-key.ts';
import { computeStreamPhase } from '../core/stream/stream-phase.ts';
import type { CreateAlertId } from '../core/policies/watch/condition-steps.ts';

/** Hashes and random bytes of Node. */
export const nodeKeyCrypto: KeyCrypto = {
  sha256: (text) => createHash('sha256').update(text).digest('hex'),
  randomBytes: (length) => randomBytes(length),
};

/**
 * Creates the clocks, ids and randomness that a service hands to the core. `wakeUpStepMs` is the precision of its
 * wake-ups, in milliseconds.
 */
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

/**
 * Returns a monotonic clock for durations that one process measures. It follows the monotonic time of the machine, and
 * the wall clock forward: the monotonic time stops while the machine sleeps. After the wall clock is set back, it stays
 * ahead, so do not show its times.
 */
export function createSteadyClock(source: { wallMs: () => number; monotonicMs: () => number }): () => Date {
  let aheadMs = -Infinity;
  return () => {
    const monotonicMs = source.monotonicMs();
    aheadMs = Math.max(aheadMs, source.wallMs() - monotonicMs);
    return new Date(Math.floor(monotonicMs + aheadMs));
  };
}

/** Returns the UUIDv5 (RFC 9562) of condition and opening in the namespace of the watch. */
export const createAlertId: CreateAlertId = (watchId, conditionId, opening) => {
  const namespace = Buffer.from(watchId.replaceAll('-', ''), 'hex');
  const digest = createHash('sha1').update(namespace).update(`${conditionId}/${opening}`).digest();
  digest.writeUInt8((digest.readUInt8(6) & 0x0f) | 0x50, 6);
  digest.writeUInt8((digest.readUInt8(8) & 0x3f) | 0x80, 8);
  const hex = digest.toString('hex', 0, 16);
  return hex.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5');
};
