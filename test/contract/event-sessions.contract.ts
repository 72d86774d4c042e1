import { describe, expect, test } from 'vitest';
import type { EventSession, EventSessions } from '../../core/ports/event-sessions.ts';

type MakeSessions = (perCaller: number) => Promise<EventSessions>;

/** Contract of `EventSessions`. `makeSessions` returns one without sessions. */
export function describeEventSessions(name: string, makeSessions: MakeSessions): void {
  describe(`${name} as event sessions`, () => {
    test('a caller opens sessions up to the maximum, which is readable', async () => {
      const sessions = await makeSessions(2);

      expect(sessions.perCaller).toBe(2);
      expect(await sessions.open('harbour')).toBeDefined();
      expect(await sessions.open('harbour')).toBeDefined();
      expect(await sessions.open('harbour')).toBeUndefined();
      expect(await sessions.open('airport')).toBeDefined();
    });

    test('a session that ends releases one place, also if it ends twice', async () => {
      const sessions = await makeSessions(2);
      const first = await opened(sessions);
      await opened(sessions);

      await first.end();
      await first.end();

      expect(await sessions.open('harbour')).toBeDefined();
      expect(await sessions.open('harbour')).toBeUndefined();
    });

    test('the signal of a session aborts when the session ends, and no other signal does', async () => {
      const sessions = await makeSessions(2);
      const [first, second] = [await opened(sessions), await opened(sessions)];
      expect(first.signal.aborted).toBe(false);

      await first.end();

      expect([first.signal.aborted, second.signal.aborted]).toEqual([true, false]);
    });

    test('ten of twenty sessions that open concurrently are accepted', async () => {
      const sessions = await makeSessions(10);

      const open = await Promise.all(Array.from({ length: 20 }, () => sessions.open('harbour')));

      expect(open.filter((session) => session !== undefined)).toHaveLength(10);
      await Promise.all(open.map(async (session) => session?.end()));
      expect(await sessions.open('harbour')).toBeDefined();
    });
  });
}

async function opened(sessions: EventSessions): Promise<EventSession> {
  const session = await sessions.open('harbour');
  if (!session) throw new Error('refused');
  return session;
}
