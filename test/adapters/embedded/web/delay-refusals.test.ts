import { expect, test } from 'vitest';
import { createCallLimiter } from '../../../../adapters/embedded/callers/call-limiter.ts';
import { delayRefusals } from '../../../../adapters/embedded/web/delay-refusals.ts';

const settled = () => new Promise((resolve) => setImmediate(resolve));

test('refusals are delayed, up to a maximum per caller, and admissions are not', async () => {
  const timers: (() => void)[] = [];
  const limiter = createCallLimiter({ perMinute: 0, atOnce: 1, now: () => new Date() });
  const setTimer = (fire: () => void) => {
    timers.push(fire);
    return () => undefined;
  };
  const calls = delayRefusals(limiter, { delayMs: 1000, maxDelayed: 2, setTimer });
  const answered: string[] = [];
  const call = (caller: string) => calls.admit(caller).then(({ kind }) => answered.push(`${caller} ${kind}`));

  for (const caller of ['loud', 'loud', 'loud', 'quiet']) void call(caller);
  await settled();
  expect(answered).toEqual(['loud admitted', 'quiet admitted']);

  void call('loud');
  void call('quiet');
  await settled();
  expect(answered.slice(2)).toEqual(['loud refused']);

  for (const fire of timers.splice(0)) fire();
  await settled();
  expect(answered.slice(3).toSorted()).toEqual(['loud refused', 'loud refused', 'quiet refused']);
  void call('loud');
  await settled();
  expect(timers).toHaveLength(1);
});
