import { createMiddleware } from 'hono/factory';
import { WatchpostError } from '../../core/errors.ts';

/** Returns whether the service answers to this host name or address, without a port. */
export type AcceptsHost = (hostname: string) => boolean;

/**
 * Refuses requests for hosts that are not this service's: a web page that points its name at this machine (DNS rebinding) would
 * otherwise read the answers. Only clients that are no browsers leave `Host` out.
 */
export function guardHost({ acceptsHost }: { acceptsHost: AcceptsHost }) {
  return createMiddleware(async (context, next) => {
    const host = context.req.header('Host');
    if (host !== undefined && !acceptsHost(toHostname(`http://${host}`))) throw hostRefusedError();
    await next();
  });
}

/** Returns an empty text for what is no URL. IPv6 addresses stand in brackets. */
export function toHostname(url: string): string {
  return URL.canParse(url) ? new URL(url).hostname.replace(/\.$/, '') : '';
}

export function isLoopback(hostname: string): boolean {
  return hostname === 'localhost' || hostname === '[::1]' || /^127\.\d+\.\d+\.\d+$/.test(hostname);
}

function hostRefusedError(): WatchpostError {
  return new WatchpostError(
    'FORBIDDEN',
    'Requests for this host are refused',
    'Use an address of the service. If this host is one, its operator adds it to WATCHPOST_ALLOWED_HOSTS, or sets WATCHPOST_PUBLIC_URL.',
  );
}
