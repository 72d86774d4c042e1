/** Typed client of the HTTP API (`watchpost/client`). Requires `fetch`: Node 20 and newer, Deno, Bun. */
export { createClient } from './client.ts';
export type { DeliveryFilter, EventFilter, JobFilter, Watchpost } from './client.ts';
export { ConnectionError, RequestInvalidError, WatchpostError } from './errors.ts';
export type { FollowedWatchEvent, FollowOptions, FollowWatchesOptions } from './follow.ts';
export type * from './openapi-types.ts';
export type { ClientOptions } from './transport.ts';
export { verifyWebhook, WebhookVerificationError } from './verify-webhook.ts';
export type { WebhookEvent, WebhookHeaders } from './verify-webhook.ts';
