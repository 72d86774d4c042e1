import { ProxyAgent, type Dispatcher } from 'undici';
import { EgressUnresolvedError } from './errors.ts';
import type { EgressGuard } from './guard.ts';

/**
 * Connections through an operator's HTTP proxy, by CONNECT for http and https alike. The proxy itself is the operator's word, as the
 * address of a vision server is: the guard does not look at it. Certificates of both are checked whatever the environment says.
 */
export function createProxyDispatcher(proxyUrl: string, connectTimeoutMs: number): Dispatcher {
  const tls = { rejectUnauthorized: true, timeout: connectTimeoutMs };
  return new ProxyAgent({
    uri: proxyUrl,
    proxyTls: tls,
    requestTls: tls,
    allowH2: false,
    keepAliveTimeout: 20_000,
    keepAliveMaxTimeout: 60_000,
    headersTimeout: 0,
    bodyTimeout: 0,
  });
}

/**
 * What can be checked of a name that a proxy resolves: that our own resolver does not find it inside. Where it finds nothing,
 * the proxy may. What the proxy finds cannot be seen, so nothing is pinned: a proxy must not reach what its users shall not. Throws `EgressRefusedError`.
 */
export async function checkBehindProxy(guard: EgressGuard, host: string): Promise<void> {
  await guard.resolve(host).catch((error: unknown) => {
    if (!(error instanceof EgressUnresolvedError)) throw error;
  });
}
