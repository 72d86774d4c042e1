import type { EgressGuard } from './guard.ts';

/** Request in a chain of redirects. */
export type Hop = {
  url: URL;
  method: 'GET' | 'POST' | 'PATCH';
  headers: Record<string, string>;
  body: string | Uint8Array | null;
  /** True if what is no HTTP is the body of a response. */
  mayLackHead?: boolean;
};

/** Returns the absolute URL of a redirect, or null for other responses. */
export function redirectTarget(status: number, location: string | undefined, from: URL): string | null {
  if (![301, 302, 303, 307, 308].includes(status) || location === undefined) return null;
  return URL.parse(location, from.href)?.href ?? location;
}

/**
 * Returns the next request, with the redirect rules of browsers. Throws `InvalidUrlError` if the guard rejects the
 * target.
 */
export function nextHop(hop: Hop, status: number, target: string, guard: EgressGuard): Hop {
  const url = guard.check(target, webSchemes);
  const keepsMethod = status === 307 || status === 308 || hop.method === 'GET';
  const headers = url.origin === hop.url.origin ? hop.headers : without(hop.headers, secrets);
  if (keepsMethod) return { ...hop, url, headers };
  return { url, method: 'GET', headers: without(headers, bodyHeaders), body: null };
}

export const webSchemes = ['http', 'https'] as const;

const secrets = ['authorization', 'cookie', 'proxy-authorization'];
const bodyHeaders = ['content-type', 'content-length', 'content-encoding'];

/** Removes headers by name, in lower case. */
function without(headers: Record<string, string>, names: readonly string[]): Record<string, string> {
  return Object.fromEntries(Object.entries(headers).filter(([name]) => !names.includes(name)));
}
