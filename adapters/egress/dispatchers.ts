import { Agent, ProxyAgent, type buildConnector, type Dispatcher } from 'undici';
import { connectGuarded, type Connections } from './guarded-tcp.ts';

/**
 * Time without a request after which no connection is reused, in milliseconds. Longer than a tick of 10 s, so that
 * captures of a job share one.
 */
export const keepAliveMs = 20_000;

const usual = {
  allowH2: false,
  keepAliveTimeout: keepAliveMs,
  keepAliveMaxTimeout: 60_000,
  // The deadline of a request covers headers and body.
  headersTimeout: 0,
  bodyTimeout: 0,
};

/** Creates a dispatcher of direct requests. It calls the guard once per connection. */
export function createAgent(connections: Connections): Dispatcher {
  return new Agent({
    ...usual,
    connect: (target, callback) => void connect(connections, target, callback),
  });
}

async function connect(
  { guard, connectTimeoutMs: timeoutMs }: Connections,
  { hostname: host, port, protocol }: buildConnector.Options,
  callback: buildConnector.Callback,
): Promise<void> {
  const isSecure = protocol === 'https:';
  const target = { host, port: Number(port) || (isSecure ? 443 : 80), isSecure, timeoutMs };
  const socket = await connectGuarded(guard, target).catch((error: Error) => error);
  if (socket instanceof Error) callback(socket, null);
  else callback(null, socket);
}

/**
 * Creates a dispatcher for an operator's HTTP proxy, which uses CONNECT for http and https. The guard does not
 * check the proxy's address, because the operator configured it. TLS certificates of proxy and target are always
 * checked.
 */
export function createProxyDispatcher(proxyUrl: string, connectTimeoutMs: number): Dispatcher {
  const tls = { rejectUnauthorized: true, timeout: connectTimeoutMs };
  return new ProxyAgent({ ...usual, uri: proxyUrl, proxyTls: tls, requestTls: tls });
}
