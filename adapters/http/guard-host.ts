import { createMiddleware } from 'hono/factory';
import { WatchpostError } from '../../core/errors.ts';

/** Returns true if the service has this host name or address, given without a port. */
export type AcceptsHost = (hostname: string) => boolean;

/**
 * Rejects requests for hosts of other services: a web page that resolves its name to this machine (DNS rebinding) could
 * read the responses. Only clients that are not browsers omit `Host`.
 */
export function guardHost({ acceptsHost }: { acceptsHost: AcceptsHost }) {
  return createMiddleware(async (context, next) => {
    const host = context.req.header('Host');
    if (host !== undefined && !acceptsHost(toHostname(`http://${host}`))) throw hostRefusedError();
    await next();
  });
}

/** Returns the host name, with brackets around an IPv6 address; an empty string if `url` is not a URL. */
export function toHostname(url: string): string {
  return URL.canParse(url) ? new URL(url).hostname.replace(/\.$/, '') : '';
}

export function isLoopback(hostname: string): boolean {
  return hostname === 'localhost' || hostname === '[::1]' || /^127\.\d+\.\d+\.\d+$/.test(hostname);
}

function hostRefusedError(): WatchpostError {
  return new WatchpostError(
    'FORBIDDEN',
    'Requests for this host are rejected',
    'Use an address of the service. If this host is one, add it to WATCHPOST_ALLOWED_HOSTS or set WATCHPOST_PUBLIC_URL.',
  );
}
