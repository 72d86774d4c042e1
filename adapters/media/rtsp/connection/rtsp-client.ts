import { randomBytes } from 'node:crypto';
import type { Duplex } from 'node:stream';
import { createAuthorizer } from '../../../egress/authorizer.ts';
import type { Credentials } from '../../../egress/credentials.ts';
import type { ByteLimit } from './byte-limit.ts';
import {
  isRtspError,
  RtspConnectionError,
  RtspLimitError,
  RtspProtocolError,
  RtspStatusError,
} from '../protocol/errors.ts';
import {
  formatMessage,
  headerValue,
  headerValues,
  requestLine,
  responseStatus,
} from '../protocol/message.ts';
import type { RtspHeader, RtspMessage } from '../protocol/message.ts';
import { createRtspReader, type InterleavedFrame, type RtspItem } from '../protocol/reader.ts';
import { createWorkLimit, type WorkLimit } from './work-limit.ts';

/** RTSP client over one connection that the egress guard has checked. */
export type RtspClient = {
  /**
   * Sends a request and returns its 2xx response. Adds credentials after a challenge and does not follow redirects.
   * Throws `RtspStatusError`, `RtspConnectionError`, `RtspProtocolError`.
   */
  request(method: string, url: string, headers?: readonly RtspHeader[]): Promise<RtspMessage>;
  /** Sets the handler of interleaved frames. Earlier frames are dropped. */
  onFrame(take: (frame: InterleavedFrame) => void): void;
  /** Calls `ended` once with the cause when the connection ends, immediately if it has ended. */
  onEnd(ended: (cause: unknown) => void): void;
  /** Connection, for back-pressure and for frames to the server. */
  socket: Duplex;
  /** Replaces the limit on what the server may send. */
  limitBytes(limit: ByteLimit): void;
  /** Counts bytes that the stream made this service produce. Ends the connection beyond its limit. */
  countProduced(bytes: number): void;
  close(): void;
};

export type RtspClientLimits = {
  /** Timeout of each response, in milliseconds. */
  answerTimeoutMs: number;
  /** Limit on what the server may send over the connection. */
  admitsBytes: ByteLimit;
  /** Limit on the processor time for what the server sends. Default: `createWorkLimit()`. */
  admitsWork?: WorkLimit;
};

/** Creates a client on an open connection. Its errors of RTSP are the cause of its end. */
export function createRtspClient(
  socket: Duplex,
  credentials: Credentials | null,
  limits: RtspClientLimits,
): RtspClient {
  const reader = createRtspReader();
  const exchanges = createExchanges(socket, limits.answerTimeoutMs);
  const authorizer = createAuthorizer(credentials, () => randomBytes(8).toString('hex'));
  const end = Promise.withResolvers<unknown>();
  const admitsWork = limits.admitsWork ?? createWorkLimit();
  let { admitsBytes } = limits;
  let takeFrame: ((frame: InterleavedFrame) => void) | null = null;
  const refuse = createRefuser(socket);

  socket.on('data', (chunk: Buffer) => {
    try {
      const isAdmitted = admitsWork(() => {
        const items = reader.push(chunk);
        countBytes(chunk.length, items.length);
        for (const item of items) receive(item);
      });
      if (!isAdmitted) throw new RtspLimitError('Reading the RTSP server takes too much processor time');
    } catch (error) {
      fail(error);
    }
  });
  socket.on('error', (error) => void (isRtspError(error) && fail(error)));
  socket.on('close', () => fail(new RtspConnectionError('RTSP server closed the connection')));

  return {
    request,
    onFrame: (take) => void (takeFrame = take),
    onEnd: (ended) => void end.promise.then(ended),
    socket,
    limitBytes: (limit) => void (admitsBytes = limit),
    countProduced: (bytes) => countBytes(bytes, 0),
    close: () => void socket.destroy(),
  };

  function countBytes(bytes: number, items: number): void {
    if (!admitsBytes(bytes, items))
      throw new RtspLimitError('RTSP server sent more than the maximum of a stream');
  }

  async function request(
    method: string,
    url: string,
    headers: readonly RtspHeader[] = [],
  ): Promise<RtspMessage> {
    for (;;) {
      const answer = await exchanges.send(method, url, [...headers, ...authorizer.headers(method, url)]);
      const status = responseStatus(answer) ?? 0;
      if (status >= 200 && status < 300) {
        authorizer.confirm();
        return answer;
      }
      if (status !== 401 || !authorizer.accept(headerValues(answer, 'www-authenticate'))) {
        throw new RtspStatusError(status);
      }
    }
  }

  function receive(item: RtspItem): void {
    if (item.kind === 'frame') return takeFrame?.(item.frame);
    const status = responseStatus(item.message);
    if (status === null) return refuse(item.message);
    // 100 Continue: the final response follows.
    if (status >= 200) exchanges.accept(item.message);
  }

  function fail(error: unknown): void {
    exchanges.fail(error);
    socket.destroy();
    end.resolve(error);
  }
}

type Exchanges = {
  /** Sends a request and returns its response, whatever its status. */
  send(method: string, url: string, headers: readonly RtspHeader[]): Promise<RtspMessage>;
  /** Hands a response to its request. */
  accept(answer: RtspMessage): void;
  /** Rejects all requests under way. */
  fail(error: unknown): void;
};

/** Creates the exchanges of a connection: requests that are numbered, and wait for their responses. */
function createExchanges(socket: Duplex, answerTimeoutMs: number): Exchanges {
  const waiting = new Map<number, PromiseWithResolvers<RtspMessage>>();
  /** Numbers of requests that were given up. */
  const late = new Set<number>();
  let sequence = 0;
  return {
    async send(method, url, headers) {
      if (socket.destroyed) throw new RtspConnectionError('RTSP server closed the connection');
      const number = (sequence += 1);
      const answer = Promise.withResolvers<RtspMessage>();
      waiting.set(number, answer);
      const timer = setTimeout(() => {
        late.add(number);
        answer.reject(new RtspConnectionError('RTSP server did not respond in time'));
      }, answerTimeoutMs);
      socket.write(formatMessage(`${method} ${url} RTSP/1.0`, [['CSeq', String(number)], agent, ...headers]));
      try {
        return await answer.promise;
      } finally {
        clearTimeout(timer);
        waiting.delete(number);
      }
    },
    accept(answer) {
      const number = Number(headerValue(answer, 'cseq'));
      if (late.delete(number)) return;
      // Some servers omit CSeq, write 0, or count on their own: the response then belongs to the oldest request.
      const [oldest] = waiting.values();
      (waiting.get(number) ?? oldest)?.resolve(answer);
    },
    fail(error) {
      for (const answer of waiting.values()) answer.reject(error);
      waiting.clear();
    },
  };
}

/** Returns a function that rejects requests of the server (RFC 2326, 10). A REDIRECT must not be followed. */
function createRefuser(socket: Duplex): (message: RtspMessage) => void {
  let refused = 0;
  return (message) => {
    if (requestLine(message.startLine)?.method === 'REDIRECT') throw new RtspStatusError(302);
    refused += 1;
    if (refused > maxRefused) throw new RtspProtocolError('RTSP server sent too many requests');
    const number = headerValue(message, 'cseq') ?? '0';
    socket.write(formatMessage('RTSP/1.0 501 Not Implemented', [['CSeq', number]]));
  };
}

/** Maximum requests of the server. Each gets a response; if the server does not read them, they fill the memory. */
const maxRefused = 100;

const agent: RtspHeader = ['User-Agent', 'watchpost'];
