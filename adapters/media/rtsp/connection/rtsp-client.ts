import { randomBytes } from 'node:crypto';
import type { Duplex } from 'node:stream';
import { createAuthorizer, type Credentials } from '../../../egress/authorizer.ts';
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
  type RtspHeader,
  type RtspMessage,
} from '../protocol/message.ts';
import { createRtspReader, type InterleavedFrame, type RtspItem } from '../protocol/reader.ts';
import nodeProcess from 'node:process';

/** RTSP client over one connection that the egress guard has checked. */
export type RtspClient = ReturnType<typeof createRtspClient>;

export type RtspClientLimits = {
  /** Timeout of each response, in milliseconds. */
  answerTimeoutMs: number;
  /** Limit on what the server may send over the connection. */
  admitsBytes: ByteLimit;
  /** Limit on the processor time for what the server sends. Default: `createWorkLimit()`. */
  admitsWork?: WorkLimit;
};

/** Creates a client on an open connection. Its errors of RTSP are the cause of its end. */
export function createRtspClient(socket: Duplex, credentials: Credentials | null, limits: RtspClientLimits) {
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
    /** Sets the handler of interleaved frames. Earlier frames are dropped. */
    onFrame: (take: (frame: InterleavedFrame) => void): void => void (takeFrame = take),
    /** Calls `ended` once with the cause when the connection ends, immediately if it has ended. */
    onEnd: (ended: (cause: unknown) => void): void => void end.promise.then(ended),
    /** Connection, for back-pressure and for frames to the server. */
    socket,
    /** Replaces the limit on what the server may send. */
    limitBytes: (limit: ByteLimit): void => void (admitsBytes = limit),
    /** Counts bytes that the stream made this service produce. Ends the connection beyond its limit. */
    countProduced: (bytes: number): void => countBytes(bytes, 0),
    close: (): void => void socket.destroy(),
  };

  function countBytes(bytes: number, items: number): void {
    if (!admitsBytes(bytes, items))
      throw new RtspLimitError('RTSP server sent more than the maximum of a stream');
  }

  /**
   * Sends a request and returns its 2xx response. Adds credentials after a challenge and does not follow redirects.
   * Throws `RtspStatusError`, `RtspConnectionError`, `RtspProtocolError`.
   */
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

/** Creates the exchanges of a connection: requests that are numbered, and wait for their responses. */
function createExchanges(socket: Duplex, answerTimeoutMs: number) {
  const waiting = new Map<number, PromiseWithResolvers<RtspMessage>>();
  /** Numbers of requests that were given up. */
  const late = new Set<number>();
  let sequence = 0;
  return {
    /** Sends a request and returns its response, whatever its status. */
    async send(method: string, url: string, headers: readonly RtspHeader[]): Promise<RtspMessage> {
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
    /** Hands a response to its request. */
    accept(answer: RtspMessage): void {
      const number = Number(headerValue(answer, 'cseq'));
      if (late.delete(number)) return;
      // Some servers omit CSeq, write 0, or count on their own: the response then belongs to the oldest request.
      const [oldest] = waiting.values();
      (waiting.get(number) ?? oldest)?.resolve(answer);
    },
    /** Rejects all requests under way. */
    fail(error: unknown): void {
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

/** Limit on what a server may send, counted with each chunk and its messages and packets. Returns false beyond it. */
export type ByteLimit = (chunkBytes: number, items: number) => boolean;

export function createByteTotal(maxBytes: number): ByteLimit {
  let bytes = 0;
  return (chunkBytes) => (bytes += chunkBytes) <= maxBytes;
}

/** Work per message or packet, as bytes: a flood of tiny ones is slower to read than video. */
const itemBytes = 500;

/** Limit on bytes per second, for a connection without an end, and a clock in milliseconds. */
type ByteRate = { maxBytesPerSecond: number; maxBurstBytes: number; elapsedMs: () => number };

/** Creates a limit on the mean rate, with bursts: key frames, and what a server had stored. */
export function createByteRate({ maxBytesPerSecond, maxBurstBytes, elapsedMs }: ByteRate): ByteLimit {
  let lastMs = elapsedMs();
  let freeBytes = maxBurstBytes;
  return (chunkBytes, items) => {
    const nowMs = elapsedMs();
    freeBytes = Math.min(maxBurstBytes, freeBytes + ((nowMs - lastMs) / 1000) * maxBytesPerSecond);
    lastMs = nowMs;
    freeBytes -= chunkBytes + items * itemBytes;
    return freeBytes >= 0;
  };
}

/** Limit on processor time. Does `work`; returns false if it has cost more than the share. */
type WorkLimit = (work: () => void) => boolean;

/** Mean share of one core for a connection, and the time that it may use without a pause. */
const defaultShare = { share: 0.05, burstMs: 1_000 };

/** Clocks in milliseconds: the time that passes, and the processor time of this thread. */
type WorkClocks = { elapsedMs: () => number; workMs: () => number };

/** Time between two readings of the processor time far from the limit, and of work from which on they are compared. */
const sampleMs = 100;

/**
 * Creates a limit on the mean share of one core, with bursts: what a server had stored. Far from the limit, the time
 * that passes during short work stands for its processor time, which is never longer and ten times as slow to read.
 */
export function createWorkLimit({ elapsedMs, workMs }: WorkClocks = systemClocks): WorkLimit {
  const { share, burstMs } = defaultShare;
  let lastMs = elapsedMs();
  let freeMs = burstMs;
  let sample = { atMs: lastMs, workMs: workMs() };
  return (work) => {
    const isNear = freeMs <= burstMs / 2;
    const startedMs = elapsedMs();
    if (isNear || startedMs - sample.atMs > sampleMs) sample = { atMs: startedMs, workMs: workMs() };
    work();
    const nowMs = elapsedMs();
    const passedMs = nowMs - startedMs;
    // A machine that pauses during the work costs the server nothing.
    const usedMs = isNear || passedMs > sampleMs ? Math.min(passedMs, workMs() - sample.workMs) : passedMs;
    freeMs = Math.min(burstMs, freeMs + (nowMs - lastMs) * share) - usedMs;
    lastMs = nowMs;
    return freeMs >= 0;
  };
}

const elapsedMs = (): number => performance.now();

/** Before Node 23.9, work of other threads meanwhile counts too. */
function readWorkMs(): number {
  const { user, system } = 'threadCpuUsage' in process ? process.threadCpuUsage() : nodeProcess.cpuUsage();
  return (user + system) / 1000;
}

const systemClocks: WorkClocks = { elapsedMs, workMs: readWorkMs };
