/** HTTP request to a destination: POST with a body, else GET. */
export type HttpRequest = {
  url: string;
  headers: Record<string, string>;
  body: string | Uint8Array | null;
};

/** Returns a POST of JSON. */
export function jsonRequest(url: string, content: object): HttpRequest {
  return { url, headers: { 'content-type': 'application/json' }, body: JSON.stringify(content) };
}
