import { describe, expect, test } from 'vitest';
import type { CallLimiter } from '../../core/ports/callers.ts';
import { start } from './records.ts';

/** Limits of a test; 0 disables a limit. */
type Limits = { perMinute: number; atOnce: number };
type MakeLimiter = (limits: Limits, now: () => Date) => Promise<CallLimiter>;

/** Contract of `CallLimiter`. `makeLimiter` returns one without calls. */
export function describeCallLimiter(name: string, makeLimiter: MakeLimiter): void {
  describe(`${name} as a call limiter`, () => {
    describe('the limit per minute', () => {
      test('the rate limit applies to any 60 seconds, not to a minute of the clock', async () => {
        const { call, advance } = await limiter(makeLimiter, { perMinute: 3 });
        await call();
        advance(50);
        await call();
        await call();
        expect(await call()).toEqual({
          kind: 'refused',
          limit: 'per minute',
          max: 3,
          retryAfterSeconds: 10,
        });
        advance(10);
        expect((await call()).kind).toBe('admitted');
        expect(await call()).toMatchObject({ kind: 'refused', retryAfterSeconds: 50 });
      });

      test('refused calls do not count, so that repeated requests do not extend the wait', async () => {
        const { call, advance } = await limiter(makeLimiter, { perMinute: 1 });
        await call();
        for (let second = 1; second < 60; second += 1) {
          advance(1);
          expect((await call()).kind).toBe('refused');
        }
        advance(1);
        expect((await call()).kind).toBe('admitted');
      });

      test('each caller has its own rate limit', async () => {
        const { call } = await limiter(makeLimiter, { perMinute: 1 });
        await call('harbour');
        expect((await call('airport')).kind).toBe('admitted');
        expect((await call('harbour')).kind).toBe('refused');
      });

      test('the rate limit stays in effect on a clock that is set back', async () => {
        const { call, advance } = await limiter(makeLimiter, { perMinute: 1 });
        await call();
        advance(-86_400);
        expect((await call()).kind).toBe('admitted');
      });

      test('the rate limit applies to concurrent calls', async () => {
        const { call } = await limiter(makeLimiter, { perMinute: 5 });

        const kinds = (await Promise.all(Array.from({ length: 12 }, () => call()))).map(({ kind }) => kind);

        expect(kinds.filter((kind) => kind === 'admitted')).toHaveLength(5);
      });
    });

    describe('the concurrency limit', () => {
      test('a call counts until it is released, and a second release has no effect', async () => {
        const { calls, call } = await limiter(makeLimiter, { atOnce: 2 });
        const [first, second] = [await calls.admit('harbour'), await calls.admit('harbour')];
        expect(await call()).toMatchObject({ kind: 'refused', limit: 'concurrency', max: 2 });
        if (first.kind !== 'admitted') throw new Error('refused');
        await first.release();
        await first.release();
        const third = await calls.admit('harbour');
        expect([second.kind, third.kind, (await call()).kind]).toEqual(['admitted', 'admitted', 'refused']);
      });

      test('a call that takes longer than a minute still counts', async () => {
        const { calls, call, advance } = await limiter(makeLimiter, { atOnce: 1, perMinute: 10 });
        await calls.admit('harbour');
        advance(90);
        expect((await call()).kind).toBe('refused');
      });

      test('the concurrency limit applies to calls that arrive together', async () => {
        const { calls } = await limiter(makeLimiter, { atOnce: 3 });
        const asked = Array.from({ length: 12 }, () => calls.admit('harbour'));

        const kinds = (await Promise.all(asked)).map(({ kind }) => kind);

        expect(kinds.filter((kind) => kind === 'admitted')).toHaveLength(3);
      });
    });

    test('every call is admitted without limits', async () => {
      const { calls } = await limiter(makeLimiter, {});
      const kinds = await Promise.all(Array.from({ length: 1000 }, () => calls.admit('harbour')));
      expect(kinds.every(({ kind }) => kind === 'admitted')).toBe(true);
    });
  });
}

async function limiter(makeLimiter: MakeLimiter, limits: Partial<Limits>) {
  const clock = { ms: start.getTime() };
  const calls = await makeLimiter({ perMinute: 0, atOnce: 0, ...limits }, () => new Date(clock.ms));
  const call = async (caller = 'harbour') => {
    const admission = await calls.admit(caller);
    if (admission.kind === 'admitted') await admission.release();
    return admission;
  };
  return { calls, call, advance: (seconds: number) => (clock.ms += seconds * 1000) };
}
