import { Webhook, WebhookVerificationError } from 'standardwebhooks';
import type { StreamedEvent, TestEvent } from './openapi-types.ts';

export { WebhookVerificationError };

/** What arrives at a `webhook_url`. */
export type WebhookEvent = Exclude<StreamedEvent, { type: 'progress' }> | TestEvent;

/** As a web server has them: a `Headers`, or Node's `request.headers`. */
export type WebhookHeaders = Headers | Record<string, string | string[] | undefined>;

/**
 * The event in a webhook request, once its signature is seen to be the service's (Standard Webhooks) and at most five minutes old.
 * `body` is the request's body as it came, before any parsing. `secret` is `whsec_…` of `GET /webhook-secret`; while
 * it rotates either one verifies. Throws `WebhookVerificationError`: answer 400 then, and do nothing.
 */
export function verifyWebhook(
  secret: string | readonly string[],
  headers: WebhookHeaders,
  body: string,
): { id: string; event: WebhookEvent } {
  const named = namedHeaders(headers);
  const secrets = typeof secret === 'string' ? [secret] : secret;
  if (secrets.length === 0) throw new WebhookVerificationError('No secret to verify with');
  for (const [index, one] of secrets.entries()) {
    try {
      const event: unknown = new Webhook(one).verify(body, named);
      if (isWebhookEvent(event)) return { id: named['webhook-id'], event };
    } catch (error) {
      if (index === secrets.length - 1) throw error;
    }
  }
  throw new WebhookVerificationError('The body is no event of Watchpost');
}

function namedHeaders(headers: WebhookHeaders) {
  const read = (name: string): string => {
    if (headers instanceof Headers) return headers.get(name) ?? '';
    // Some hosts hand names on as they were written.
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
