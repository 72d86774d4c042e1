import type { Notification } from '../../../core/ports/destinations.ts';
import type { DestinationAddress } from '../../../core/records/watch.ts';
import type { WatchChangeReason } from '../../../core/records/watch-event.ts';
import { describeNotification, findAlert, shorten } from '../describe.ts';
import type { PermanentStatuses } from '../../../core/delivery/response-outcome.ts';
import { jsonRequest, type HttpRequest } from '../http-request.ts';
import { toWebhookData } from '../webhook/webhook.ts';

/** Events API v2: 202 accepts, 400 is a bad request, 429 and 5xx are retried (github.com/PagerDuty/api-schema, reference/events-v2). */
export const pagerdutyStatuses: PermanentStatuses = { gone: [401, 404, 410], rejected: [400, 413] };

const endpoint = 'https://events.pagerduty.com/v2/enqueue';
/** Length of `summary` and of `dedup_key`, in characters. */
const maxSummary = 1_024;
const maxSource = 255;

/** Returns the event that triggers, acknowledges or resolves an alert of PagerDuty. A lost stream and each kind of failure have keys of the watch. */
export function toPagerdutyRequest(
  address: Pick<DestinationAddress, 'url' | 'routing_key'>,
  notification: Notification,
): HttpRequest {
  const action = toAction(notification);
  const event = {
    routing_key: address.routing_key,
    event_action: action,
    dedup_key:
      findAlert(notification.event)?.alert_id ?? `${notification.watchId}:${toSubject(notification)}`,
  };
  return jsonRequest(
    address.url ?? endpoint,
    action === 'trigger' ? { ...event, ...trigger(notification) } : event,
  );
}

type Action = 'trigger' | 'acknowledge' | 'resolve';

/** Failures of a watch and their ends, by the key that they share. A destination adds its id. */
const failures: Partial<Record<WatchChangeReason, [Action, subject: string]>> = {
  budget_exhausted: ['trigger', 'budget'],
  budget_renewed: ['resolve', 'budget'],
  model_without_price: ['trigger', 'price'],
  resumed: ['resolve', 'price'],
  checks_late: ['trigger', 'checks'],
  checks_in_time: ['resolve', 'checks'],
  destination_failed: ['trigger', 'destination'],
  destination_recovered: ['resolve', 'destination'],
  model_failed: ['trigger', 'model'],
  model_recovered: ['resolve', 'model'],
};

function toSubject({ event, id }: Notification): string {
  if (event.type === 'test') return id;
  if (event.type !== 'watch_changed') return 'stream';
  const { reason, destination_id: destination } = event.data;
  const subject = failures[reason]?.[1] ?? reason;
  return destination === undefined ? subject : `${subject}:${destination}`;
}

function toAction({ event }: Notification): Action {
  switch (event.type) {
    case 'alert_opened':
    case 'alert_reminder':
    case 'stream_lost':
    case 'test':
    case 'heartbeat':
      return 'trigger';
    case 'alert_acknowledged':
      return 'acknowledge';
    case 'alert_closed':
    case 'stream_recovered':
      return 'resolve';
    case 'watch_changed':
      return failures[event.data.reason]?.[0] ?? 'trigger';
  }
}

function trigger(notification: Notification) {
  const { title, text, severity } = describeNotification(notification);
  const { frameUrl, isPublic, console } = notification;
  return {
    client: 'Watchpost',
    ...(console && { client_url: console.url }),
    payload: {
      summary: shorten(text === '' ? title : `${title}: ${text}`, maxSummary),
      source: shorten(notification.watchName, maxSource),
      severity: severity ?? 'error',
      timestamp: notification.timestamp,
      component: notification.watchId,
      custom_details: toWebhookData({ ...notification, includeFrame: false }),
    },
    ...(isPublic && frameUrl?.startsWith('https:') && { images: [{ src: frameUrl, alt: 'Evidence' }] }),
  };
}
