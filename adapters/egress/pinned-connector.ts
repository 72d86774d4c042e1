import { buildConnector } from 'undici';
import { EgressTimeoutError } from './errors.ts';
import { waitAtMost } from '../../core/time-limit.ts';
import type { EgressGuard } from './guard.ts';

/**
 * Creates an undici connector that calls the guard once per connection and connects to the returned addresses in
 * order. `net.connect` does not look up an address, so DNS rebinding is impossible; certificates are still checked
 * against the name. An environment variable that disables TLS checks has no effect.
 */
export function createPinnedConnector(
  guard: EgressGuard,
  connectTimeoutMs: number,
): buildConnector.connector {
  const connect = buildConnector({ timeout: connectTimeoutMs, rejectUnauthorized: true });
  return (target, callback) => {
    void callBack(connectPinned(guard, connect, connectTimeoutMs, target), callback);
  };
}

async function callBack(
  connecting: Promise<ConnectedSocket>,
  callback: buildConnector.Callback,
): Promise<void> {
  let socket: ConnectedSocket;
  try {
    socket = await connecting;
  } catch (error) {
    callback(error instanceof Error ? error : new Error('Connection failed'), null);
    return;
  }
  callback(null, socket);
}

type ConnectedSocket = Extract<Parameters<buildConnector.Callback>, [null, unknown]>[1];

async function connectPinned(
  guard: EgressGuard,
  connect: buildConnector.connector,
  timeoutMs: number,
  target: buildConnector.Options,
): Promise<ConnectedSocket> {
  const unresolved = new EgressTimeoutError('Host name was not resolved in time');
  const addresses = await waitAtMost(
    timeoutMs,
    guard.resolve(target.hostname, Number(target.port) || (target.protocol === 'https:' ? 443 : 80)),
    () => {
      throw unresolved;
    },
  );
  let failure: unknown = unresolved;
  for (const { address } of addresses.slice(0, maxAddresses)) {
    try {
      return await connectTo(connect, { ...target, hostname: address });
    } catch (error) {
      failure = error;
    }
  }
  throw failure;
}

/** Maximum addresses per name, so that a request cannot become a port scan. */
const maxAddresses = 4;

function connectTo(
  connect: buildConnector.connector,
  target: buildConnector.Options,
): Promise<ConnectedSocket> {
  return new Promise((resolve, reject) => {
    connect(target, (...[error, socket]) => {
      if (error === null && socket !== null) resolve(socket);
      else reject(error ?? new Error('Connection failed'));
    });
  });
}
