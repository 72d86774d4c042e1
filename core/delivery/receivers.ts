import { severitySchema } from '../records/watch.ts';
import type { Destination, DestinationType, Notify, Severity } from '../records/watch.ts';
import type { WatchChangeReason, WatchEvent } from '../records/watch-event.ts';

/** Default of `notify`: one message of an alert for people, programs follow the alert or the whole watch. */
export const defaultNotify: Record<DestinationType, Notify | null> = {
  slack: 'openings',
  discord: 'openings',
  ntfy: 'openings',
  email: 'openings',
  pagerduty: 'openings_and_closings',
  mqtt: 'openings_and_closings',
  webhook: 'everything',
  heartbeat: null,
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
 * Returns true if the destination receives the event. The severity decides about the opening of an alert, receipt of the opening about what follows:
 * `notified` has the openings that the destination received. A failure of the watch reaches all, and so does its end.
 */
export function isWanted(
  { destination_id: id, type, notify, min_severity: minimum }: Destination,
  event: WatchEvent,
  notified: readonly { subject: string; elsewhere?: true | undefined }[] = [],
): boolean {
  if (type === 'heartbeat') return isWell(event);
  const subject = findSubject(event);
  const hasOpening = notified.some((received) => received.subject === subject && !received.elsewhere);
  switch (event.type) {
    case 'progress':
      return false;
    case 'alert_opened':
      return hasOpening || isSevere(event.data.severity, minimum);
    case 'alert_reminder':
      return hasOpening;
    case 'alert_acknowledged':
      return hasOpening && notify !== 'openings';
    case 'alert_closed':
      // A retained state is wrong until its end arrives, also one that another event has published.
      return (hasOpening && notify !== 'openings') || type === 'mqtt';
    case 'stream_lost':
      return true;
    case 'stream_recovered':
      return hasOpening || type === 'mqtt';
    case 'watch_changed':
      return !isOwnFailure(id, event) && isTold(event.data.reason, type, notify);
  }
}

function isSevere(severity: Severity, minimum: Severity): boolean {
  const severities = severitySchema.options;
  return severities.indexOf(severity) >= severities.indexOf(minimum);
}

/** Changes of a watch that reach all destinations: nobody watches, or somebody does again. */
function isTold(reason: WatchChangeReason, type: DestinationType, notify: Notify | null): boolean {
  if (changes[reason] === 'failure') return true;
  // It has alerts only. A watch whose model has no price is resumed by hand.
  if (type === 'pagerduty') return reason === 'resumed';
  // A broker has to know conditions and deletion.
  return notify === 'everything' || (type === 'mqtt' && changes[reason] === 'device');
}

const changes: Record<WatchChangeReason, 'failure' | 'device' | 'other'> = {
  created: 'device',
  changed: 'device',
  deleted: 'device',
  paused: 'other',
  resumed: 'other',
  schedule_began: 'other',
  schedule_ended: 'other',
  budget_warning: 'other',
  budget_exhausted: 'failure',
  budget_renewed: 'failure',
  model_without_price: 'failure',
  checks_late: 'failure',
  checks_in_time: 'failure',
  destination_failed: 'failure',
  destination_recovered: 'failure',
  model_failed: 'failure',
  model_recovered: 'failure',
};

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
