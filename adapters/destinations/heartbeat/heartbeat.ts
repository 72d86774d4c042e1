import type { HttpRequest, PermanentStatuses } from '../http-sender.ts';

/**
 * Monitor that expects a call in time, such as healthchecks.io or a push monitor of Uptime Kuma. It is never disabled:
 * an alarm follows from silence.
 */
export const heartbeatStatuses: PermanentStatuses = { gone: [], rejected: [] };

/** Returns a GET, which all such monitors accept. It contains nothing about the watch. */
export function toHeartbeatRequest(url: string): HttpRequest {
  return { url, headers: {}, body: null, readsAnswer: true };
}
