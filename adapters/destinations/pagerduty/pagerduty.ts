import type { Notification } from '../../../core/ports/destinations.ts';
import type { DestinationAddress } from '../../../core/records/watch.ts';
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

/**
 * Returns the event that triggers, acknowledges or resolves an alert of PagerDuty. Undefined for `watch_changed`, which is no alert. The alert of a
 * lost stream has the watch as its key.
 */
export function toPagerdutyRequest(
  address: Pick<DestinationAddress, 'url' | 'routing_key'>,
  notification: Notification,
): HttpRequest | undefined {
  const action = toAction(notification);
  if (action === undefined) return undefined;
  const alert = findAlert(notification.event);
  const event = {
    routing_key: address.routing_key,
    event_action: action,
    dedup_key:
      alert?.alert_id ??
      `${notification.watchId}:${notification.event.type === 'test' ? notification.id : 'stream'}`,
  };
  return jsonRequest(
    address.url ?? endpoint,
    action === 'trigger' ? { ...event, ...trigger(notification) } : event,
  );
}

function toAction({ event: { type } }: Notification): 'trigger' | 'acknowledge' | 'resolve' | undefined {
  switch (type) {
    case 'alert_opened':
    case 'alert_reminder':
    case 'stream_lost':
    case 'test':
      return 'trigger';
    case 'alert_acknowledged':
      return 'acknowledge';
    case 'alert_closed':
    case 'stream_recovered':
      return 'resolve';
    case 'watch_changed':
    case 'heartbeat':
      return undefined;
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
