import { once } from 'node:events';
import { connect, isIP, type Socket } from 'node:net';
import { connect as connectTls } from 'node:tls';
import { waitUntilAborted } from '../../core/time-limit.ts';
import { openDeadline, type Deadline } from './deadline.ts';
import type { EgressGuard } from './guard.ts';
import { toEgressError } from './egress-error.ts';

/** Target and timeout of a TCP connection. */
export type GuardedTcpOptions = {
  host: string;
  /** Address of an earlier connection to the host, for another one to the same address. It is checked too. */
  address?: string;
  port: number;
  timeoutMs: number;
  signal?: AbortSignal;
};

/**
 * Connects to one of the addresses that the guard returns for `host`, within `timeoutMs` including the lookup.
 * Throws the errors of the guard, `EgressTimeoutError`, `EgressNetworkError`, and the abort reason.
 */
export async function connectGuarded(guard: EgressGuard, options: GuardedTcpOptions): Promise<Socket> {
  const deadline = openDeadline(options.timeoutMs, options.signal);
  try {
    return await connectToAny(guard, options, deadline);
  } catch (error) {
    deadline.throwIfOver();
    throw toEgressError(error);
  } finally {
    deadline.close();
  }
}

/**
 * Connects like `connectGuarded`, then with TLS, within the same time. The certificate must be trusted and be one for `host`. Throws like
 * `connectGuarded`, for a certificate `EgressNetworkError` with that fault.
 */
export async function connectGuardedTls(guard: EgressGuard, options: GuardedTcpOptions): Promise<Socket> {
  const deadline = openDeadline(options.timeoutMs, options.signal);
  try {
    const socket = await connectGuarded(guard, { ...options, signal: deadline.signal });
    return await secure(socket, options.host.replace(/^\[(.*)\]$/, '$1'), deadline.signal);
  } catch (error) {
    deadline.throwIfOver();
    throw toEgressError(error);
  } finally {
    deadline.close();
  }
}

async function secure(socket: Socket, host: string, signal: AbortSignal): Promise<Socket> {
  const secured = connectTls({
    socket,
    host,
    rejectUnauthorized: true,
    ...(isIP(host) === 0 && { servername: host }),
  });
  secured.on('error', () => undefined);
  try {
    await once(secured, 'secureConnect', { signal });
    return secured;
  } catch (error) {
    socket.destroy();
    throw error;
  }
}

async function connectToAny(
  guard: EgressGuard,
  options: GuardedTcpOptions,
  deadline: Deadline,
): Promise<Socket> {
  const addresses = await waitUntilAborted(
    guard.resolve(options.address ?? options.host, options.port),
    deadline.signal,
  );
  let failure: unknown;
  for (const { address } of addresses.slice(0, 4)) {
    try {
      return await connectTo(address, options.port, deadline.signal);
    } catch (error) {
      deadline.throwIfOver();
      failure = error;
    }
  }
  throw failure;
}

function connectTo(address: string, port: number, signal: AbortSignal): Promise<Socket> {
  const { promise, resolve, reject } = Promise.withResolvers<Socket>();
  const socket = connect({ host: address, port, noDelay: true });
  const abort = (): void => void socket.destroy(new Error('Connection was aborted'));
  signal.addEventListener('abort', abort, { once: true });
  socket.once('error', reject).once('connect', () => {
    socket.off('error', reject);
    resolve(socket);
  });
  return promise.finally(() => signal.removeEventListener('abort', abort));
}
