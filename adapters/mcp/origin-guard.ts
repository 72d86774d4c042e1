import { createMiddleware } from 'hono/factory';
import { WatchpostError } from '../../core/errors.ts';
import { toHostname, isLoopback } from '../http/guard-host.ts';

/**
 * Rejects requests from pages of other sites, as the MCP specification requires. `Origin` must be the requested host, which
 * `guardHost` has accepted, this machine, or an allowed origin.
 */
export function originGuard({
  baseUrl,
  allowedOrigins,
}: {
  baseUrl: string;
  allowedOrigins: readonly string[];
}) {
  const own = new URL(baseUrl).origin;
  return createMiddleware(async (c, next) => {
    const origin = c.req.header('Origin');
    const isAllowed =
      origin === undefined ||
      origin === own ||
      allowedOrigins.includes(origin) ||
      isLoopback(toHostname(origin)) ||
      (URL.canParse(origin) && new URL(origin).host === c.req.header('Host'));
    if (!isAllowed) throw originRefusedError();
    await next();
  });
}

function originRefusedError(): WatchpostError {
  return new WatchpostError(
    'FORBIDDEN',
    'Requests with this Origin header are rejected',
    'Call from an MCP client, or from a page of this host.',
  );
}
