import { z } from 'zod';
import { findPart, findSubject } from '../../../core/delivery/receivers.ts';
import type { Notification } from '../../../core/ports/delivery.ts';
import type { DestinationAddress } from '../../../core/records/watch.ts';
import { describeNotification, findClipUrl, shorten } from '../describe.ts';
import { jsonRequest, type HttpRequest, type PermanentStatuses } from '../http-sender.ts';
import { toWebhookData } from '../webhook/webhook.ts';

/**
 * Events API v2: 202 accepts, 400 is a bad request, 429 and 5xx are retried (github.com/PagerDuty/api-schema,
 * reference/events-v2).
 */
export const pagerdutyStatuses: PermanentStatuses = { gone: [401, 404, 410], rejected: [400, 413] };

const endpoint = 'https://events.pagerduty.com/v2/enqueue';
/** Length of `summary` and of `dedup_key`, in characters. */
const maxSummary = 1_024;
const maxSource = 255;

/**
 * Returns the event that triggers, acknowledges or resolves an alert of PagerDuty. A lost stream and each trouble have
 * keys of the watch.
 */
export function toPagerdutyRequest(address: Address, notification: Notification): HttpRequest {
  const { event, watchId, id } = notification;
  const isStored = event.type !== 'test' && event.type !== 'heartbeat';
  const subject = isStored ? findSubject(event) : id;
  if (isStored && findPart(event) === 'ending') return toResolveRequest(address, watchId, subject);
  const isAcknowledged = event.type === 'alert_acknowledged';
  return toRequest(address, watchId, subject, {
    event_action: isAcknowledged ? 'acknowledge' : 'trigger',
    ...(!isAcknowledged && trigger(notification)),
  });
}

/**
 * Returns the event that resolves what was triggered for a subject of the watch. PagerDuty ignores it if none is open.
 */
export function toResolveRequest(address: Address, watchId: string, subject: string): HttpRequest {
  return toRequest(address, watchId, subject, { event_action: 'resolve' });
}

type Address = Pick<DestinationAddress, 'url' | 'routing_key'>;

function toRequest(
  { url = endpoint, routing_key }: Address,
  watchId: string,
  subject: string,
  content: object,
): HttpRequest {
  const isAlert = z.uuid().safeParse(subject).success;
  const dedupKey = isAlert ? subject : `${watchId}:${subject}`;
  const request = jsonRequest(url, { routing_key, dedup_key: dedupKey, ...content });
  return { ...request, readsAnswer: true };
}

function trigger(notification: Notification) {
  const { title, text, severity } = describeNotification(notification);
  const { frameUrl, isPublic, console } = notification;
  const clipUrl = findClipUrl(notification);
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
    ...(clipUrl !== null && { links: [{ href: clipUrl, text: 'Clip' }] }),
    ...(clipUrl === null &&
      isPublic &&
      frameUrl?.startsWith('https:') && { images: [{ src: frameUrl, alt: 'Evidence' }] }),
  };
}
