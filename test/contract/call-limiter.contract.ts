import { describe, expect, it } from 'vitest';
import type { CallLimiter } from '../../core/ports/call-limiter.ts';
import { start } from './records.ts';

/** 0 is no limit. */
type Limits = { perMinute: number; atOnce: number };
type MakeLimiter = (limits: Limits, now: () => Date) => Promise<CallLimiter>;

/** What every `CallLimiter` promises. `makeLimiter` gives one of which nothing was asked yet. */
export function describeCallLimiter(name: string, makeLimiter: MakeLimiter): void {
  describe(`${name} as a call limiter`, () => {
    describe('the limit per minute', () => {
      it('holds for any 60 seconds, not for the minute of the clock', async () => {
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

      it('counts no refused call, so that asking on does not prolong the wait', async () => {
        const { call, advance } = await limiter(makeLimiter, { perMinute: 1 });
        await call();
        for (let second = 1; second < 60; second += 1) {
          advance(1);
          expect((await call()).kind).toBe('refused');
        }
        advance(1);
        expect((await call()).kind).toBe('admitted');
      });

      it('is each caller’s own', async () => {
        const { call } = await limiter(makeLimiter, { perMinute: 1 });
        await call('harbour');
        expect((await call('airport')).kind).toBe('admitted');
        expect((await call('harbour')).kind).toBe('refused');
      });

      it('survives a clock that is set back', async () => {
        const { call, advance } = await limiter(makeLimiter, { perMinute: 1 });
        await call();
        advance(-86_400);
        expect((await call()).kind).toBe('admitted');
      });

      it('admits no more of those who ask at once', async () => {
        const { call } = await limiter(makeLimiter, { perMinute: 5 });

        const kinds = (await Promise.all(Array.from({ length: 12 }, () => call()))).map(({ kind }) => kind);

        expect(kinds.filter((kind) => kind === 'admitted')).toHaveLength(5);
      });
    });

    describe('the limit at once', () => {
      it('is held until a call is released, which counts once', async () => {
        const { calls, call } = await limiter(makeLimiter, { atOnce: 2 });
        const [first, second] = [await calls.admit('harbour'), await calls.admit('harbour')];
        expect(await call()).toMatchObject({ kind: 'refused', limit: 'at once', max: 2 });
        if (first.kind !== 'admitted') throw new Error('refused');
        await first.release();
        await first.release();
        const third = await calls.admit('harbour');
        expect([second.kind, third.kind, (await call()).kind]).toEqual(['admitted', 'admitted', 'refused']);
      });

      it('is still held by calls that take longer than a minute', async () => {
        const { calls, call, advance } = await limiter(makeLimiter, { atOnce: 1, perMinute: 10 });
        await calls.admit('harbour');
        advance(90);
        expect((await call()).kind).toBe('refused');
      });

      it('admits no more of those who ask at once', async () => {
        const { calls } = await limiter(makeLimiter, { atOnce: 3 });
        const asked = Array.from({ length: 12 }, () => calls.admit('harbour'));

        const kinds = (await Promise.all(asked)).map(({ kind }) => kind);

        expect(kinds.filter((kind) => kind === 'admitted')).toHaveLength(3);
      });
    });

    it('without limits every call is admitted', async () => {
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
