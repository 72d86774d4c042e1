import type { WebhookResult } from '../ports/delivery.ts';
import type { DestinationOutcome } from '../ports/destinations.ts';

/** Statuses of a receiver that no later attempt changes. */
export type PermanentStatuses = { gone: readonly number[]; rejected: readonly number[] };

/** Receiver of Standard Webhooks, of a job or a watch: 410 ends its deliveries. */
export const webhookStatuses: PermanentStatuses = { gone: [410], rejected: [] };

/** Returns true if a receiver may have refused a request for its size. */
export function isTooLarge({ status, isBroken }: Pick<WebhookResult, 'status' | 'isBroken'>): boolean {
  return status === 413 || isBroken === true;
}

/** Returns the meaning of a response: 2xx delivers, `null` is no response, any other one is retried, redirects included. */
export function outcomeFor(status: number | null, { gone, rejected }: PermanentStatuses): DestinationOutcome {
  if (status === null) return 'retry';
  if (status >= 200 && status < 300) return 'delivered';
  if (gone.includes(status)) return 'gone';
  return rejected.includes(status) ? 'rejected' : 'retry';
}
