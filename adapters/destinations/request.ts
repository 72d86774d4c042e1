import type { DestinationOutcome } from '../../core/ports/destinations.ts';

/** HTTP request to a destination: POST with a body, else GET. */
export type DestinationRequest = {
  url: string;
  headers: Record<string, string>;
  body: string | Uint8Array | null;
};

/** Returns a POST of JSON. */
export function jsonRequest(url: string, content: object): DestinationRequest {
  return { url, headers: { 'content-type': 'application/json' }, body: JSON.stringify(content) };
}

/** Statuses of a vendor that no later attempt changes. */
export type PermanentStatuses = { gone: readonly number[]; rejected: readonly number[] };

/** Returns the meaning of a response: 2xx delivers, `null` is no response, redirects are not followed. */
export function outcomeFor(status: number | null, { gone, rejected }: PermanentStatuses): DestinationOutcome {
  if (status === null) return 'retry';
  if (status >= 200 && status < 300) return 'delivered';
  if (gone.includes(status)) return 'gone';
  return rejected.includes(status) ? 'rejected' : 'retry';
}
