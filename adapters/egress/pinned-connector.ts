import { buildConnector } from 'undici';
import { EgressTimeoutError } from './errors.ts';
import type { EgressGuard } from './guard.ts';

/**
 * A connector for undici that asks the guard once a connection and connects to the addresses it returned, one after the
 * other. Given an address, `net.connect` looks nothing up again, so a name that changes its answer gains nothing;
 * certificates are still checked against the name. An environment that switches TLS checks off has no effect.
 */
export function createPinnedConnector(
  guard: EgressGuard,
  connectTimeoutMs: number,
): buildConnector.connector {
  const connect = buildConnector({ timeout: connectTimeoutMs, rejectUnauthorized: true });
  return (target, callback) => {
    void answerCallback(connectPinned(guard, connect, connectTimeoutMs, target), callback);
  };
}

async function answerCallback(
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
  const addresses = await within(timeoutMs, guard.resolve(target.hostname));
  let failure: unknown = new EgressTimeoutError('Host name was not resolved in time');
  for (const { address } of addresses.slice(0, maxAddresses)) {
    try {
      return await connectTo(connect, { ...target, hostname: address });
    } catch (error) {
      failure = error;
    }
  }
  throw failure;
}

/** Of a name with many addresses, so that a name cannot make one request into a scan. */
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

/** getaddrinfo cannot be cancelled; it can be left behind. */
async function within<T>(timeoutMs: number, work: Promise<T>): Promise<T> {
  const timeout = Promise.withResolvers<never>();
  const timer = setTimeout(
    () => timeout.reject(new EgressTimeoutError('Host name was not resolved in time')),
    timeoutMs,
  );
  return Promise.race([work, timeout.promise]).finally(() => clearTimeout(timer));
}
