import { expect, test } from 'vitest';
import { watchEventLoop } from '../../../../adapters/embedded/load/measure-lateness.ts';
import { createPace } from '../../../../core/tick/pace.ts';
import { createCollectedLog } from '../log/collected-log.ts';

test('blocks of the event loop are summed up, and long ones are in the log', () => {
  let nowMs = 0;
  let fire: (() => void) | undefined;
  const log = createCollectedLog();
  const pace = createPace({ steadyNow: () => new Date(nowMs), log });
  const stop = watchEventLoop({
    monotonicMs: () => nowMs,
    report: pace.recordBlock,
    setTimer: (run) => {
      fire = run;
      return () => (fire = undefined);
    },
  });
  for (const elapsedMs of [250, 260, 499, 650, 2250]) {
    nowMs += elapsedMs;
    fire?.();
  }
  // 649 ms after a timer of 250 ms are a block of 400 ms; the first three were in time.
  expect(pace.read().blockedSeconds).toBeCloseTo(2.4);
  expect(log.entries).toEqual([
    { level: 'warning', message: 'The event loop was blocked: nobody got an answer', fields: { seconds: 2 } },
  ]);
  stop();
  expect(fire).toBeUndefined();
});
