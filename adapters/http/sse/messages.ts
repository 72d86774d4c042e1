import type { EventType } from '../../../core/records/event.ts';
import type { EventEnvelope } from '../../../core/event/present-event.ts';

/** The wire of server-sent events: https://html.spec.whatwg.org/multipage/server-sent-events.html */

/** Names of events in the stream (interface section 6.3). */
const names = {
  job_started: 'started',
  progress: 'progress',
  watch_triggered: 'triggered',
  summary_generated: 'summary',
  error: 'error',
  job_stopped: 'stopped',
} as const;

/** The contract: `stopped` and `error` are terminal for the session (interface section 6.2). */
export function isTerminalEvent(type: EventType): boolean {
  return type === 'job_stopped' || type === 'error';
}

/** JSON has no line break outside its strings, and none unescaped inside them: one `data:` line. */
export function formatEvent(sequence: number, envelope: EventEnvelope): string {
  return `event: ${names[envelope.type]}\nid: ${sequence}\ndata: ${JSON.stringify(envelope)}\n\n`;
}

/** Comes first: the reader knows that the stream is open, and how long to wait before it comes back. */
export function formatRetry(retryMilliseconds: number): string {
  return `retry: ${retryMilliseconds}\n\n`;
}

/** A comment: keeps proxies from closing a silent connection, and finds readers that are gone. */
export const heartbeatComment = ': heartbeat\n\n';
