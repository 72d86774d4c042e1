import { setImmediate } from 'node:timers/promises';
import type { SetTimer } from '../../../core/time-limit.ts';

/** Clock and timers that advance only on request. */
export function createFakeTime(start = new Date('2026-03-01T12:00:00.000Z')) {
  let nowMs = start.getTime();
  const timers = new Set<{ at: number; fire: () => void }>();

  const setTimer: SetTimer = (fire, delayMs) => {
    const timer = { at: nowMs + delayMs, fire };
    timers.add(timer);
    return () => void timers.delete(timer);
  };

  async function pass(seconds: number): Promise<void> {
    const endMs = nowMs + seconds * 1_000;
    for (await settle(); ; await settle()) {
      const next = [...timers].filter(({ at }) => at <= endMs).toSorted((a, b) => a.at - b.at)[0];
      if (next === undefined) break;
      timers.delete(next);
      nowMs = Math.max(nowMs, next.at);
      next.fire();
    }
    nowMs = endMs;
  }

  return { now: () => new Date(nowMs), setTimer, pass, timers };
}

/** Resolves when pending promises have settled: an attempt has several commits, each in a turn of its own. */
async function settle(): Promise<void> {
  for (let turn = 0; turn < 20; turn += 1) await setImmediate();
}
