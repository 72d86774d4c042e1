import { expect, test } from 'vitest';
import { createSteadyClock } from '../../adapters/machine.ts';

function createScriptedClock() {
  const source = { wall: 1_000_000, monotonic: 500 };
  const now = createSteadyClock({ wallMs: () => source.wall, monotonicMs: () => source.monotonic });
  return { source, read: () => now().getTime() };
}

test('the steady clock follows the wall clock', () => {
  const { source, read } = createScriptedClock();
  expect(read()).toBe(1_000_000);
  source.wall += 5_000;
  source.monotonic += 5_000;
  expect(read()).toBe(1_005_000);
});

test('the steady clock continues at the same pace when the wall clock is set back', () => {
  const { source, read } = createScriptedClock();
  read();
  source.wall -= 3_600_000;
  expect(read()).toBe(1_000_000);
  source.wall += 2_000;
  source.monotonic += 2_000;
  expect(read()).toBe(1_002_000);
});

test('the steady clock includes the time in which the machine slept', () => {
  const { source, read } = createScriptedClock();
  read();
  source.wall += 3_600_000;
  expect(read()).toBe(4_600_000);
});
