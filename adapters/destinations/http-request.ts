/** HTTP request to a destination: POST with a body, else GET. */
export type HttpRequest = {
  url: string;
  headers: Record<string, string>;
  body: string | Uint8Array | null;
};

/** Statuses of a receiver that no later attempt changes. */
export type PermanentStatuses = { gone: readonly number[]; rejected: readonly number[] };

/** Returns a POST of JSON. */
export function jsonRequest(url: string, content: object): HttpRequest {
  return { url, headers: { 'content-type': 'application/json' }, body: JSON.stringify(content) };
}
