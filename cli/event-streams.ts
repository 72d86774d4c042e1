import type { EventStreams } from '../adapters/http/sse/dependencies.ts';
import type { EventSessions } from '../core/ports/event-sessions.ts';
import type { LogSignals } from '../core/ports/log-signals.ts';
import type { Settings } from './settings.ts';

/** Creates the event streams of the embedded service. The commit of an event wakes its readers. */
export function createEventStreams(
  settings: Settings,
  sessions: EventSessions,
  signals: LogSignals,
  reads: NonNullable<EventStreams['reads']>,
): EventStreams {
  return {
    sessions,
    signals,
    reads,
    retryMilliseconds: 2000,
    heartbeatSeconds: settings.heartbeatSeconds,
    sessionSeconds: settings.eventStreamSeconds === 0 ? null : settings.eventStreamSeconds,
  };
}
