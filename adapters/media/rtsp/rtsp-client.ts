import { randomBytes } from 'node:crypto';
import type { Socket } from 'node:net';
import { createAuthorizer } from './authorizer.ts';
import type { Credentials } from './authentication.ts';
import { RtspConnectionError, RtspProtocolError, RtspStatusError } from './errors.ts';
import { formatMessage, headerValue, headerValues, requestLine, statusOf } from './message.ts';
import type { RtspHeader, RtspMessage } from './message.ts';
import { createRtspReader, type InterleavedFrame, type RtspItem } from './reader.ts';

/** Our side of the conversation with a camera or server, over one connection that the guard has allowed. */
export type RtspClient = {
  /**
   * Sends one request and answers its 2xx response; credentials are added when the server asks for them, redirects are not followed.
   * Throws `RtspStatusError`, `RtspConnectionError`, `RtspProtocolError`.
   */
  request(method: string, url: string, headers?: readonly RtspHeader[]): Promise<RtspMessage>;
  /** Takes the interleaved frames from now on; those before are dropped. */
  onFrame(take: (frame: InterleavedFrame) => void): void;
  /** Called once, at the end of the connection, whoever ended it; at once where it has ended already. */
  onEnd(ended: () => void): void;
  /** For back-pressure, and for the frames of the other direction. */
  socket: Socket;
  close(): void;
};

export type RtspClientLimits = {
  /** For each answer. */
  answerTimeoutMs: number;
  /** Of all that the server sends over the connection. */
  maxBytes: number;
};

export function createRtspClient(
  socket: Socket,
  credentials: Credentials | null,
  limits: RtspClientLimits,
): RtspClient {
  const reader = createRtspReader();
  const waiting = new Map<number, PromiseWithResolvers<RtspMessage>>();
  const authorizer = createAuthorizer(credentials, () => randomBytes(8).toString('hex'));
  const end = Promise.withResolvers<void>();
  let takeFrame: ((frame: InterleavedFrame) => void) | null = null;
  let sequence = 0;
  let refused = 0;
  let bytes = 0;

  socket.on('data', (chunk: Buffer) => {
    try {
      bytes += chunk.length;
      if (bytes > limits.maxBytes)
        throw new RtspConnectionError('RTSP server sent more than is taken of a stream');
      for (const item of reader.push(chunk)) receive(item);
    } catch (error) {
      fail(error);
    }
  });
  socket.on('error', () => undefined);
  socket.on('close', () => fail(new RtspConnectionError('RTSP server closed the connection')));

  return {
    request,
    onFrame: (take) => void (takeFrame = take),
    onEnd: (ended) => void end.promise.then(ended),
    socket,
    close: () => void socket.destroy(),
  };

  async function request(
    method: string,
    url: string,
    headers: readonly RtspHeader[] = [],
  ): Promise<RtspMessage> {
    for (;;) {
      const answer = await exchange(method, url, [...headers, ...authorizer.headers(method, url)]);
      const status = statusOf(answer) ?? 0;
      if (status >= 200 && status < 300) {
        authorizer.confirm();
        return answer;
      }
      if (status !== 401 || !authorizer.accept(headerValues(answer, 'www-authenticate'))) {
        throw new RtspStatusError(status);
      }
    }
  }

  async function exchange(method: string, url: string, headers: readonly RtspHeader[]): Promise<RtspMessage> {
    if (socket.destroyed) throw new RtspConnectionError('RTSP server closed the connection');
    const number = (sequence += 1);
    const answer = Promise.withResolvers<RtspMessage>();
    waiting.set(number, answer);
    const timer = setTimeout(
      () => answer.reject(new RtspConnectionError('RTSP server did not answer in time')),
      limits.answerTimeoutMs,
    );
    socket.write(formatMessage(`${method} ${url} RTSP/1.0`, [['CSeq', String(number)], agent, ...headers]));
    try {
      return await answer.promise;
    } finally {
      clearTimeout(timer);
      waiting.delete(number);
    }
  }

  function receive(item: RtspItem): void {
    if (item.kind === 'frame') return takeFrame?.(item.frame);
    const status = statusOf(item.message);
    if (status === null) return refuse(item.message);
    // 100 Continue: the answer is still to come.
    if (status >= 200) waitingFor(item.message)?.resolve(item.message);
  }

  /** Some servers do not say what they answer: then it is what was asked first. */
  function waitingFor(answer: RtspMessage): PromiseWithResolvers<RtspMessage> | undefined {
    const number = headerValue(answer, 'cseq');
    if (number !== undefined) return waiting.get(Number(number));
    const [oldest] = waiting.values();
    return oldest;
  }

  /** Servers may ask, too (RFC 2326, 10); a REDIRECT is the one that must not be followed. */
  function refuse(message: RtspMessage): void {
    if (requestLine(message.startLine)?.method === 'REDIRECT') throw new RtspStatusError(302);
    refused += 1;
    if (refused > mostRefused) throw new RtspProtocolError('RTSP server asks too much');
    const number = headerValue(message, 'cseq') ?? '0';
    socket.write(formatMessage('RTSP/1.0 501 Not Implemented', [['CSeq', number]]));
  }

  function fail(error: unknown): void {
    for (const answer of waiting.values()) answer.reject(error);
    waiting.clear();
    socket.destroy();
    end.resolve();
  }
}

/** Of requests of the server's. Each is answered, and who does not read the answers would have us keep them all. */
const mostRefused = 100;

const agent: RtspHeader = ['User-Agent', 'watchpost'];
