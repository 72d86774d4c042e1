import { describe, expect, test } from 'vitest';
import { createCallLimiter } from '../../../adapters/embedded/call-limiter.ts';
import type { CallLimits } from '../../../adapters/embedded/call-limiter.ts';

function limiter(limits: Partial<CallLimits>) {
  const clock = { ms: Date.parse('2026-03-01T12:00:00Z') };
  const calls = createCallLimiter({ perMinute: 0, atOnce: 0, ...limits, now: () => new Date(clock.ms) });
  const call = async (caller = 'harbour') => {
    const admission = await calls.admit(caller);
    if (admission.kind === 'admitted') await admission.release();
    return admission;
  };
  return { calls, call, advance: (seconds: number) => (clock.ms += seconds * 1000) };
}

describe('the limit per minute', () => {
  test('holds for any 60 seconds, not for the minute of the clock', async () => {
    const { call, advance } = limiter({ perMinute: 3 });
    await call();
    advance(50);
    await call();
    await call();
    expect(await call()).toEqual({ kind: 'refused', limit: 'per minute', most: 3, retryAfterSeconds: 10 });
    advance(10);
    expect((await call()).kind).toBe('admitted');
    expect(await call()).toMatchObject({ kind: 'refused', retryAfterSeconds: 50 });
  });

  test('counts no refused call, so that asking on does not prolong the wait', async () => {
    const { call, advance } = limiter({ perMinute: 1 });
    await call();
    for (let second = 1; second < 60; second += 1) {
      advance(1);
      expect((await call()).kind).toBe('refused');
    }
    advance(1);
    expect((await call()).kind).toBe('admitted');
  });

  test('is each caller’s own', async () => {
    const { call } = limiter({ perMinute: 1 });
    await call('harbour');
    expect((await call('airport')).kind).toBe('admitted');
  });

  test('survives a clock that is set back', async () => {
    const { call, advance } = limiter({ perMinute: 1 });
    await call();
    advance(-86_400);
    expect((await call()).kind).toBe('admitted');
  });
});

describe('the limit at once', () => {
  test('is held until a call is released, which counts once', async () => {
    const { calls, call } = limiter({ atOnce: 2 });
    const [first, second] = [await calls.admit('harbour'), await calls.admit('harbour')];
    expect(await call()).toMatchObject({ kind: 'refused', limit: 'at once', most: 2 });
    if (first.kind !== 'admitted') throw new Error('refused');
    await first.release();
    await first.release();
    const third = await calls.admit('harbour');
    expect([second.kind, third.kind, (await call()).kind]).toEqual(['admitted', 'admitted', 'refused']);
  });

  test('is still held by calls that take longer than a minute', async () => {
    const { calls, call, advance } = limiter({ atOnce: 1, perMinute: 10 });
    await calls.admit('harbour');
    advance(90);
    expect((await call()).kind).toBe('refused');
  });
});

test('without limits every call is admitted', async () => {
  const { calls } = limiter({});
  const kinds = await Promise.all(Array.from({ length: 1000 }, () => calls.admit('harbour')));
  expect(kinds.every(({ kind }) => kind === 'admitted')).toBe(true);
});
