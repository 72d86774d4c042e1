import { once } from 'node:events';
import { connect, isIP, type Socket } from 'node:net';
import { connect as connectTls } from 'node:tls';
import { waitUntilAborted } from '../../core/time-limit.ts';
import { openDeadline, type Deadline } from './deadline.ts';
import type { EgressGuard } from './guard.ts';
import { toEgressError } from './egress-error.ts';
import { EgressTimeoutError } from './errors.ts';

export type Connections = { guard: EgressGuard; connectTimeoutMs: number };

/** Target and timeout of a TCP connection. */
export type GuardedTcpOptions = {
  host: string;
  /** Address of an earlier connection to the host, for another one to the same address. It is checked too. */
  address?: string;
  port: number;
  /** Connects with TLS. The certificate must be trusted and be one for `host`. */
  isSecure: boolean;
  timeoutMs: number;
  signal?: AbortSignal;
};

/**
 * Connects to one of the addresses that the guard returns for `host`, within `timeoutMs` including the lookup.
 * `net.connect` looks up no address, so DNS rebinding is impossible; an environment variable that disables TLS checks
 * has no effect. Throws the errors of the guard, `EgressTimeoutError`, `EgressNetworkError` (for a certificate with
 * that fault), and the abort reason.
 */
export async function connectGuarded(guard: EgressGuard, options: GuardedTcpOptions): Promise<Socket> {
  const deadline = openDeadline(options.timeoutMs, options.signal);
  try {
    return await connectToAny(guard, options, deadline);
  } catch (error) {
    options.signal?.throwIfAborted();
    if (deadline.signal.aborted) throw new EgressTimeoutError('No response in time', { isConnected: false });
    throw toEgressError(error);
  } finally {
    deadline.close();
  }
}

/** Maximum addresses per name, so that a request cannot become a port scan. */
const maxAddresses = 4;

/** Tries addresses in order. Each but the last has a share of the time only: an address of IPv6 may lead nowhere. */
async function connectToAny(
  guard: EgressGuard,
  options: GuardedTcpOptions,
  deadline: Deadline,
): Promise<Socket> {
  const { host, port, timeoutMs } = options;
  const resolved = await waitUntilAborted(guard.resolve(options.address ?? host, port), deadline.signal);
  const addresses = resolved.slice(0, maxAddresses);
  let failure: unknown;
  for (const [index, { address }] of addresses.entries()) {
    const isLast = index === addresses.length - 1;
    const share = openDeadline(isLast ? timeoutMs : timeoutMs / addresses.length, deadline.signal);
    try {
      return await connectTo(address, options, share.signal);
    } catch (error) {
      deadline.throwIfOver();
      failure = share.signal.aborted ? share.signal.reason : error;
    } finally {
      share.close();
    }
  }
  throw failure;
}

async function connectTo(
  address: string,
  { host, port, isSecure }: GuardedTcpOptions,
  signal: AbortSignal,
): Promise<Socket> {
  const socket = connect({ host: address, port, noDelay: true });
  try {
    await once(socket, 'connect', { signal });
    return isSecure ? await secure(socket, host.replace(/^\[(.*)\]$/, '$1'), signal) : socket;
  } catch (error) {
    socket.on('error', () => undefined).destroy();
    throw error;
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
  await once(secured, 'secureConnect', { signal });
  return secured;
}
