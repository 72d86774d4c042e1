import { severitySchema } from '../records/watch.ts';
import type { Destination } from '../records/watch.ts';
import type { WatchEvent } from '../records/watch-event.ts';

/** Returns true if the destination receives the event: by its type, and for events of an alert by their severity. */
export function isWanted(
  { destination_id: id, type, events, min_severity: minimum }: Destination,
  event: WatchEvent,
): boolean {
  if (type === 'heartbeat') return isWell(event);
  if (event.type === 'progress' || !events.includes(event.type)) return false;
  if (isOwnFailure(id, event)) return false;
  if (!('severity' in event.data)) return true;
  const severities = severitySchema.options;
  return severities.indexOf(event.data.severity) >= severities.indexOf(minimum);
}

/** Returns the subject of an event: an alert, the stream or the model, whose events keep their order at a destination. All others are one subject. */
export function findSubject({ type, data }: WatchEvent): string {
  if ('alert_id' in data) return data.alert_id;
  return type === 'stream_lost' || type === 'stream_recovered' ? 'stream' : 'watch';
}

/** Returns true for the news that a destination fails, which it cannot receive. */
function isOwnFailure(id: string, { type, data }: WatchEvent): boolean {
  return type === 'watch_changed' && data.reason === 'destination_failed' && data.destination_id === id;
}

/** Returns true for a check that saw the stream: a verdict, or a capture that the pre-filter skipped. */
function isWell(event: WatchEvent): boolean {
  if (event.type !== 'progress' || event.data.stream !== 'ok') return false;
  return event.data.prefilter_skipped || event.data.conditions.some(({ triggered }) => triggered !== null);
}
