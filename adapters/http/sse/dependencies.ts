import type { CoreDeps } from '../../../core/dependencies.ts';
import type { EventSessions } from '../../../core/ports/event-sessions.ts';
import type { KeyStore } from '../../../core/ports/key-store.ts';

/** What an event stream works with. */
export type EventStreamDeps = Pick<CoreDeps, 'jobs' | 'media' | 'baseUrl' | 'now' | 'log'> & {
  keys: Pick<KeyStore, 'find'>;
  /** For heartbeats, key checks and the length of a session. */
  steadyNow: () => Date;
  eventStreams: EventStreams;
};

export type EventStreams = {
  sessions: EventSessions;
  /** Resolves after that time, and at once when the signal aborts; never rejects. */
  sleep: (milliseconds: number, signal: AbortSignal) => Promise<void>;
  /** How often a stream that has caught up looks for more. */
  pollMilliseconds: number;
  /** How long a reader waits before it comes back (`retry:`). */
  retryMilliseconds: number;
  /** After so much silence a comment is sent. */
  heartbeatSeconds: number;
  /** After so long a stream is closed, and its reader comes back with `Last-Event-ID`; null: never. */
  sessionSeconds: number | null;
};
