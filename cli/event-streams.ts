import { setTimeout as wait } from 'node:timers/promises';
import type { EventStreams } from '../adapters/http/sse/dependencies.ts';
import type { EventSessions } from '../core/ports/event-sessions.ts';
import type { Settings } from './settings.ts';

/** Event streams of the one-machine service. A look is one read of SQLite, some 50 µs; a new event comes 125 ms late on average. */
export function createEventStreams(settings: Settings, sessions: EventSessions): EventStreams {
  return {
    sessions,
    sleep: async (milliseconds, signal) => wait(milliseconds, undefined, { signal }).catch(() => undefined),
    pollMilliseconds: 250,
    retryMilliseconds: 2000,
    heartbeatSeconds: settings.heartbeatSeconds,
    sessionSeconds: settings.eventStreamSeconds === 0 ? null : settings.eventStreamSeconds,
  };
}
