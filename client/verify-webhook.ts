import { Webhook, WebhookVerificationError } from 'standardwebhooks';
import type { StreamedEvent, TestEvent, WatchEvent } from './openapi-types.ts';

export { WebhookVerificationError };

/** Event that a receiver gets at a `webhook_url`, or a destination of a watch. */
export type WebhookEvent = Exclude<StreamedEvent | WatchEvent, { type: 'progress' }> | TestEvent;

/** Request headers: a `Headers` object, or `request.headers` of Node. */
export type WebhookHeaders = Headers | Record<string, string | string[] | undefined>;

/**
 * Verifies a webhook request (Standard Webhooks; at most five minutes old) and returns its event and `webhook-id`.
 * `body` is the raw request body, before any parsing. `secret` is `whsec_…` from `GET /webhook-secret`; during a
 * rotation either secret verifies. Throws `WebhookVerificationError`: respond with status 400 and ignore the request.
 */
export function verifyWebhook(
  secret: string | readonly string[],
  headers: WebhookHeaders,
  body: string,
): { id: string; event: WebhookEvent } {
  const named = namedHeaders(headers);
  const secrets = typeof secret === 'string' ? [secret] : secret;
  if (secrets.length === 0) throw new WebhookVerificationError('No secret given');
  for (const [index, one] of secrets.entries()) {
    try {
      const event: unknown = new Webhook(one).verify(body, named);
      if (isWebhookEvent(event)) return { id: named['webhook-id'], event };
    } catch (error) {
      if (index === secrets.length - 1) throw error;
    }
  }
  throw new WebhookVerificationError('The body is no Watchpost event');
}

function namedHeaders(headers: WebhookHeaders) {
  const read = (name: string): string => {
    if (headers instanceof Headers) return headers.get(name) ?? '';
    // Some hosts do not convert header names to lower case.
    const value = Object.entries(headers).find(([key]) => key.toLowerCase() === name)?.[1];
    return (Array.isArray(value) ? value[0] : value) ?? '';
  };
  return {
    'webhook-id': read('webhook-id'),
    'webhook-timestamp': read('webhook-timestamp'),
    'webhook-signature': read('webhook-signature'),
  };
}

function isWebhookEvent(value: unknown): value is WebhookEvent {
  if (typeof value !== 'object' || value === null) return false;
  return (
    'type' in value && typeof value.type === 'string' && 'data' in value && typeof value.data === 'object'
  );
}
