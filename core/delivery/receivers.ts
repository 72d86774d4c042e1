import { severitySchema } from '../records/watch.ts';
import type { Destination, DestinationType, Notify, Severity } from '../records/watch.ts';
import type { NewWatchEvent, WatchChangeReason, WatchEvent } from '../records/watch-event.ts';

/** Default of `notify`: one message of an alert for people, programs follow the alert or the whole watch. */
export const defaultNotify: Record<DestinationType, Notify | null> = {
  slack: 'openings',
  discord: 'openings',
  ntfy: 'openings',
  telegram: 'openings',
  email: 'openings',
  pagerduty: 'openings_and_closings',
  mqtt: 'openings_and_closings',
  webhook: 'everything',
  heartbeat: null,
};

/** Part of an event in what it reports: it begins it or ends it. */
type Part = 'opening' | 'ending';

/**
 * Troubles of a watch by the changes that begin and end them, each with its subject. That of a destination adds its id.
 */
const troubles: Partial<Record<WatchChangeReason, [Part, subject: string]>> = {
  budget_exhausted: ['opening', 'budget'],
  budget_renewed: ['ending', 'budget'],
  model_without_price: ['opening', 'price'],
  resumed: ['ending', 'price'],
  checks_late: ['opening', 'checks'],
  checks_in_time: ['ending', 'checks'],
  destination_failed: ['opening', 'receiver'],
  destination_recovered: ['ending', 'receiver'],
  model_failed: ['opening', 'model'],
  model_recovered: ['ending', 'model'],
  view_changed: ['opening', 'view'],
  view_restored: ['ending', 'view'],
};

/**
 * Returns whether an event opens an alert, a lost stream or another trouble of the watch, or ends it; undefined if it
 * does neither.
 */
export function findPart({ type, data }: NewWatchEvent): Part | undefined {
  if (type === 'alert_opened' || type === 'stream_lost') return 'opening';
  if (type === 'alert_closed' || type === 'stream_recovered') return 'ending';
  return type === 'watch_changed' ? troubles[data.reason]?.[0] : undefined;
}

/**
 * Returns true if the destination receives the event. The severity decides about the opening of an alert, receipt of
 * the opening about what follows: `notified` has the openings that the destination received. A failure of the watch
 * reaches all, and so does its end.
 */
export function isWanted(
  { destination_id: id, type, notify, min_severity: minimum, include_clip: includesClip }: Destination,
  event: WatchEvent,
  notified: readonly { subject: string; sequence: number }[] = [],
): boolean {
  if (type === 'heartbeat') return isWell(event);
  const subject = findSubject(event);
  const hasOpening = notified.some(
    (received) => received.subject === subject && received.sequence <= event.sequence,
  );
  switch (event.type) {
    case 'progress':
      return false;
    case 'alert_opened':
      return hasOpening || isSevere(event.data.severity, minimum);
    case 'alert_reminder':
      return hasOpening;
    case 'alert_clip':
      return includesClip && isClipWanted(type, event, hasOpening, isSevere(event.data.severity, minimum));
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

/**
 * A clip follows its opening, also after the closing; only an incident of PagerDuty that is over would open again. Only
 * programs receive the reason for a missing one.
 */
function isClipWanted(
  type: DestinationType,
  { data }: Extract<WatchEvent, { type: 'alert_clip' }>,
  isOpen: boolean,
  wasWanted: boolean,
): boolean {
  if (type === 'webhook') return wasWanted;
  if (type === 'mqtt' || data.clip_key === null) return false;
  return type === 'pagerduty' ? isOpen : wasWanted;
}

function isSevere(severity: Severity, minimum: Severity): boolean {
  const severities = severitySchema.options;
  return severities.indexOf(severity) >= severities.indexOf(minimum);
}

/** Changes of a watch that reach all destinations: nobody watches, or somebody does again. */
function isTold(reason: WatchChangeReason, type: DestinationType, notify: Notify | null): boolean {
  if (changes[reason] === 'failure') return true;
  if (changes[reason] === 'advice') return type !== 'pagerduty' && type !== 'mqtt';
  // It has alerts only. A watch whose model has no price is resumed by hand.
  if (type === 'pagerduty') return reason === 'resumed';
  // A broker has to know conditions and deletion.
  return notify === 'everything' || (type === 'mqtt' && changes[reason] === 'device');
}

const changes: Record<WatchChangeReason, 'failure' | 'device' | 'advice' | 'other'> = {
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
  view_changed: 'failure',
  view_restored: 'failure',
  unsure_sightings: 'advice',
};

/**
 * Returns the subject of an event: an alert, the stream or a trouble, whose events keep their order at a destination.
 * All others are one subject.
 */
export function findSubject({ type, data }: NewWatchEvent): string {
  if ('alert_id' in data) return data.alert_id;
  if (type === 'stream_lost' || type === 'stream_recovered') return 'stream';
  const [, subject = 'watch'] = type === 'watch_changed' ? (troubles[data.reason] ?? []) : [];
  return type === 'watch_changed' && data.destination_id !== undefined
    ? `${subject}:${data.destination_id}`
    : subject;
}

/**
 * Returns true if the destinations after a change include the address of one before it. A broker keeps one state for
 * all its clients.
 */
export function isStillAddressed(before: Destination, destinations: readonly Destination[]): boolean {
  return destinations.some(
    ({ destination_id: id, type, fingerprint, url_masked: url }) =>
      type === before.type &&
      (type === 'mqtt'
        ? readHost(url) === readHost(before.url_masked)
        : id === before.destination_id && fingerprint === before.fingerprint),
  );
}

function readHost(url: string): string {
  return URL.parse(url)?.hostname ?? url;
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
