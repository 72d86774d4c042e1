import { severitySchema } from '../records/watch.ts';
import type { Destination, Watch } from '../records/watch.ts';
import type { WatchEvent } from '../records/watch-event.ts';

/** Type of the event that opens the subject of an event; undefined if it belongs to none. */
const openings: Partial<Record<WatchEvent['type'], 'alert_opened' | 'stream_lost'>> = {
  alert_reminder: 'alert_opened',
  alert_acknowledged: 'alert_opened',
  alert_closed: 'alert_opened',
  stream_recovered: 'stream_lost',
};

/** Returns true for an event that opens an alert or reports a lost stream, which another event ends. */
export function isOpening({ type }: { type: string }): boolean {
  return type === 'alert_opened' || type === 'stream_lost';
}

/** Returns true for an event that ends an alert or a lost stream. */
export function isEnding({ type }: { type: string }): boolean {
  return type === 'alert_closed' || type === 'stream_recovered';
}

/**
 * Returns true if the destination receives the event: by its type, and for the opening of an alert by its severity. Receipt of an opening
 * decides about its end: `notified` has the openings that the destination received.
 */
export function isWanted(
  { destination_id: id, type, events, min_severity: minimum }: Destination,
  event: WatchEvent,
  notified: readonly { subject: string; elsewhere?: true | undefined }[] = [],
): boolean {
  if (type === 'heartbeat') return isWell(event);
  if (event.type === 'progress' || !events.includes(event.type)) return false;
  if (isOwnFailure(id, event)) return false;
  const opening = openings[event.type];
  const subject = findSubject(event);
  if (notified.some((received) => received.subject === subject && !received.elsewhere)) return true;
  // A destination that receives only ends received no opening.
  if (opening !== undefined && events.includes(opening)) return false;
  if (!('severity' in event.data)) return true;
  const severities = severitySchema.options;
  return severities.indexOf(event.data.severity) >= severities.indexOf(minimum);
}

/** Returns true if events of the watch are delivered: to its destinations, or ends to former ones. */
export function hasDestinations({ config, former_destinations: former }: Watch): boolean {
  return config.destinations.length + former.length > 0;
}

/** Returns the subject of an event: an alert, the stream or the model, whose events keep their order at a destination. All others are one subject. */
export function findSubject({ type, data }: WatchEvent): string {
  if ('alert_id' in data) return data.alert_id;
  if (type === 'stream_lost' || type === 'stream_recovered') return 'stream';
  const isModel = type === 'watch_changed' && ['model_failed', 'model_recovered'].includes(data.reason);
  return isModel ? 'model' : 'watch';
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
