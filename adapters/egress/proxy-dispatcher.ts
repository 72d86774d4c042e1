import { ProxyAgent, type Dispatcher } from 'undici';
import { EgressUnresolvedError } from './errors.ts';
import type { EgressGuard } from './guard.ts';

/**
 * Creates a dispatcher for an operator's HTTP proxy, which uses CONNECT for http and https. The guard does not
 * check the proxy's address, because the operator configured it. TLS certificates of proxy and target are always
 * checked.
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
 * Rejects hosts that our resolver maps to a forbidden address. The proxy resolves names itself: no pinning. A proxy
 * must therefore not reach internal addresses. Throws `EgressRefusedError`.
 */
export async function checkProxiedHost(guard: EgressGuard, host: string): Promise<void> {
  await guard.resolve(host).catch((error: unknown) => {
    if (!(error instanceof EgressUnresolvedError)) throw error;
  });
}
