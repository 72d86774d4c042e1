import { describe, expect, it } from 'vitest';
import type { EventSession, EventSessions } from '../../core/ports/event-sessions.ts';

type MakeSessions = (perCaller: number) => Promise<EventSessions>;

/** What every `EventSessions` promises. `makeSessions` gives one with none open. */
export function describeEventSessions(name: string, makeSessions: MakeSessions): void {
  describe(`${name} as event sessions`, () => {
    it('a caller has as many as it may, and says how many that are', async () => {
      const sessions = await makeSessions(2);

      expect(sessions.perCaller).toBe(2);
      expect(await sessions.open('harbour')).toBeDefined();
      expect(await sessions.open('harbour')).toBeDefined();
      expect(await sessions.open('harbour')).toBeUndefined();
      expect(await sessions.open('airport')).toBeDefined();
    });

    it('a session that ends makes room for one other, however often it ends', async () => {
      const sessions = await makeSessions(2);
      const first = await opened(sessions);
      await opened(sessions);

      await first.end();
      await first.end();

      expect(await sessions.open('harbour')).toBeDefined();
      expect(await sessions.open('harbour')).toBeUndefined();
    });

    it('a session is over for its reader when it ends, and no other is', async () => {
      const sessions = await makeSessions(2);
      const [first, second] = [await opened(sessions), await opened(sessions)];
      expect(first.signal.aborted).toBe(false);

      await first.end();

      expect([first.signal.aborted, second.signal.aborted]).toEqual([true, false]);
    });

    it('of twenty that open at once ten are let in', async () => {
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
