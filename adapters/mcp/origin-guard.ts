import { createMiddleware } from 'hono/factory';
import { WatchpostError } from '../../core/errors.ts';

/**
 * Refuses what a web page sends through a name that it has pointed at this machine (DNS rebinding), as the MCP specification asks:
 * an `Origin` must be our own or of this machine, and a service on a loopback address answers to loopback names only. Elsewhere
 * the edge decides about `Host`.
 */
export function originGuard({ baseUrl }: { baseUrl: string }) {
  const own = new URL(baseUrl);
  const local = isLoopback(own.hostname);
  return createMiddleware(async (c, next) => {
    const origin = c.req.header('Origin');
    if (origin !== undefined && !isAllowed(origin, own)) throw refused('Origin');
    if (local && !isLoopback(hostnameOf(`http://${c.req.header('Host') ?? own.host}`))) throw refused('Host');
    await next();
  });
}

function isAllowed(origin: string, own: URL): boolean {
  return origin === own.origin || isLoopback(hostnameOf(origin));
}

function hostnameOf(url: string): string {
  return URL.canParse(url) ? new URL(url).hostname : '';
}

function isLoopback(hostname: string): boolean {
  return hostname === 'localhost' || hostname === '[::1]' || /^127\.\d+\.\d+\.\d+$/.test(hostname);
}

function refused(header: string): WatchpostError {
  return new WatchpostError(
    'FORBIDDEN',
    `Requests with this ${header} header are refused`,
    'Call from an MCP client, or from a page of this host.',
  );
}
