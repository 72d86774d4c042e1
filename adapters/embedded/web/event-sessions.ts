import type { EventSession, EventSessions } from '../../../core/ports/event-sessions.ts';

export type EmbeddedEventSessions = EventSessions & {
  /** Ends every session, and each later session immediately. For shutdown. */
  endAll(): Promise<void>;
};

/** Creates the event-stream sessions of one process, in memory. */
export function createEventSessions(perCaller: number): EmbeddedEventSessions {
  const open = new Map<string, Set<EventSession>>();
  let closing = false;
  return {
    perCaller,
    open: async (caller) => {
      const ofCaller = open.get(caller) ?? new Set();
      if (ofCaller.size >= perCaller) return undefined;
      const controller = new AbortController();
      const session: EventSession = {
        signal: controller.signal,
        // Needs no job here: a reader that disconnects closes its connection, which ends the session.
        attachJob: () => undefined,
        end: async () => {
          controller.abort();
          ofCaller.delete(session);
          if (ofCaller.size === 0 && open.get(caller) === ofCaller) open.delete(caller);
        },
      };
      open.set(caller, ofCaller.add(session));
      if (closing) await session.end();
      return session;
    },
    endAll: async () => {
      closing = true;
      const sessions = [...open.values()].flatMap((ofCaller) => [...ofCaller]);
      await Promise.all(sessions.map(async (session) => session.end()));
    },
  };
}
