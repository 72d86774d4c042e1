import { randomBytes } from 'node:crypto';
import type { Socket } from 'node:net';
import { Duplex } from 'node:stream';
import { contained } from '../../../contained.ts';
import { createAuthorizer } from '../../../egress/authorizer.ts';
import { openDeadline } from '../../../egress/deadline.ts';
import type { EgressGuard } from '../../../egress/guard.ts';
import { connectGuarded } from '../../../egress/guarded-tcp.ts';
import { RtspConnectionError, RtspProtocolError, RtspStatusError } from '../protocol/errors.ts';
import {
  formatMessage,
  headerValue,
  headerValues,
  parseHeaders,
  type RtspHeader,
} from '../protocol/message.ts';
import { findHeadEnd, maxHeadBytes } from '../protocol/reader.ts';
import type { RtspTarget } from '../protocol/stream-url.ts';

/**
 * Tunnels RTSP through HTTP, as QuickTime, ONVIF and ffmpeg do: the server sends over the response to a GET, and reads
 * base64 from a POST. Both connections are to one address, that the guard allows; no address in a response is used.
 * Authenticates both requests after a challenge. Ends with the cause as error if the server refuses the POST. Throws
 * `RtspStatusError`, `RtspProtocolError` if the server has no tunnel, `RtspConnectionError`, the errors of the guard,
 * `EgressTimeoutError`, and the abort reason.
 */
export async function openHttpTunnel(
  guard: EgressGuard,
  target: RtspTarget,
  { timeoutMs, signal }: { timeoutMs: number; signal: AbortSignal },
): Promise<Duplex> {
  const deadline = openDeadline(timeoutMs, signal);
  const sockets: Socket[] = [];
  const close = (): void => sockets.forEach((socket) => socket.destroy());
  deadline.signal.addEventListener('abort', close, { once: true });
  const connect = async (address?: string): Promise<Socket> => {
    const { host, port, isSecure } = target;
    const options = { host, port, isSecure, timeoutMs, signal: deadline.signal, ...(address && { address }) };
    const socket = await connectGuarded(guard, options);
    sockets.push(socket.on('error', () => undefined));
    return socket;
  };
  try {
    const ways = await openWays(connect, target);
    deadline.throwIfOver();
    return joinWays(ways);
  } catch (error) {
    close();
    deadline.throwIfOver();
    throw error;
  } finally {
    deadline.close();
  }
}

type Ways = { down: Socket; up: Socket };

async function openWays(
  connect: (address?: string) => Promise<Socket>,
  { url, credentials }: RtspTarget,
): Promise<Ways> {
  const authorizer = createAuthorizer(credentials, () => randomBytes(8).toString('hex'));
  const { host, pathname, search } = new URL(url);
  const path = `${pathname || '/'}${search}`;
  for (;;) {
    const cookie = randomBytes(11).toString('hex');
    const request = (method: string, headers: RtspHeader[]): string =>
      formatMessage(`${method} ${path} HTTP/1.0`, [
        ['Host', host],
        ['User-Agent', 'watchpost'],
        ['x-sessioncookie', cookie],
        ['Pragma', 'no-cache'],
        ['Cache-Control', 'no-cache'],
        ...headers,
        ...authorizer.headers(method, path),
      ]);
    const down = await connect();
    down.write(request('GET', [['Accept', tunnelled]]));
    const { status, headers } = await readHead(down);
    if (isSuccess(status)) {
      if (/^text\//i.test(headerValue({ headers }, 'content-type') ?? ''))
        throw new RtspProtocolError('The response to GET is a text');
      const up = await connect(down.remoteAddress);
      up.write(request('POST', [['Content-Type', tunnelled], ...endless]));
      return { down, up };
    }
    down.destroy();
    if (status !== 401 || !authorizer.accept(headerValues({ headers }, 'www-authenticate')))
      throw isOfStream(status) ? new RtspStatusError(status) : noTunnel(status);
  }
}

const tunnelled = 'application/x-rtsp-tunnelled';
/** A POST has no end: servers do not count its length. These are the values of QuickTime. */
const endless: RtspHeader[] = [
  ['Content-Length', '32767'],
  ['Expires', 'Sun, 9 Jan 1972 00:00:00 GMT'],
];

function joinWays({ down, up }: Ways): Duplex {
  const tunnel = new Duplex({
    allowHalfOpen: false,
    read: () => void down.resume(),
    // Each request is encoded apart, with its padding, as ffmpeg does.
    write: (chunk: Buffer, _encoding, done) => void up.write(chunk.toString('base64'), done),
    destroy: (error, done) => {
      down.destroy();
      up.destroy();
      done(error);
    },
  });
  down.on('data', (chunk: Buffer) => void (tunnel.push(chunk) || down.pause()));
  down.on('end', () => tunnel.push(null));
  down.on('close', () => void (down.readableEnded || tunnel.destroy()));
  watchPost(up).catch((error: Error) => void tunnel.destroy(error));
  return tunnel;
}

/**
 * Throws when the server refuses the POST or closes it without a response. Leaves what follows a response unread, so
 * that it fills no memory.
 */
async function watchPost(up: Socket): Promise<void> {
  const { status } = await readHead(up);
  if (!isSuccess(status))
    throw status === 401 || status === 403 ? new RtspStatusError(status) : noTunnel(status);
}

function isSuccess(status: number): boolean {
  return status >= 200 && status < 300;
}

/** Returns true for a status that is about the stream. Others are of a web server that has no tunnel. */
function isOfStream(status: number): boolean {
  return [401, 403, 404, 503].includes(status) || (status >= 300 && status < 400);
}

function noTunnel(status: number): RtspProtocolError {
  return new RtspProtocolError(`The server returned the HTTP status ${status}`);
}

type ResponseHead = { status: number; headers: RtspHeader[] };

/** Reads the head of a response. What follows it stays in the paused socket. */
function readHead(socket: Socket): Promise<ResponseHead> {
  const { promise, resolve, reject } = Promise.withResolvers<ResponseHead>();
  let bytes = Buffer.alloc(0);
  const take = contained((chunk: Buffer) => {
    const searchedBytes = bytes.length;
    bytes = Buffer.concat([bytes, chunk]);
    const end = findHeadEnd(bytes, searchedBytes);
    if (end === null && bytes.length <= maxHeadBytes) return;
    socket.off('data', take).pause();
    if (end === null) return reject(new RtspProtocolError('The response has too large a head'));
    socket.unshift(bytes.subarray(end.at + end.width));
    resolve(parseResponse(bytes.toString('latin1', 0, end.at)));
  }, reject);
  socket.on('data', take);
  socket.once('close', () => reject(new RtspConnectionError('RTSP server closed the connection')));
  return promise;
}

function parseResponse(head: string): ResponseHead {
  const [startLine = '', ...lines] = head.split(/\r?\n/);
  const [, status] = /^HTTP\/1\.\d +(\d{3})(?: |$)/.exec(startLine) ?? [];
  if (status === undefined) throw new RtspProtocolError('Not a response of HTTP');
  return { status: Number(status), headers: parseHeaders(lines) };
}
