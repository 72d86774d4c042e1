import type { CoreDeps } from '../../../core/dependencies.ts';
import type { EventSessions } from '../../../core/ports/event-sessions.ts';
import type { TailDeps } from '../../../core/event/tail-events.ts';
import type { LogSignals } from '../../../core/ports/log-signals.ts';
import type { KeyStore } from '../../../core/ports/key-store.ts';

export type EventStreamDeps = Pick<CoreDeps, 'runs' | 'watches' | 'media' | 'baseUrl' | 'now' | 'log'> & {
  keys: Pick<KeyStore, 'find'>;
  /** Clock for heartbeats, key checks and the length of a session. */
  steadyNow: () => Date;
  eventStreams: EventStreams;
};

export type EventStreams = {
  sessions: EventSessions;
  /** Wakes a stream that has sent all events. */
  signals: LogSignals;
  /** Reads of the logs of jobs that readers share. Default: each reads the store. */
  reads?: TailDeps['runs'];
  /** Reconnection time of readers (`retry:`), in milliseconds. */
  retryMilliseconds: number;
  /** Time without an event after which a heartbeat is sent, in seconds. */
  heartbeatSeconds: number;
  /** Maximum length of a session, in seconds; its reader reconnects with `Last-Event-ID`. `null`: no limit. */
  sessionSeconds: number | null;
};
