import type { Duplex } from 'node:stream';
import { NotLiveError, StreamFetchError } from '../../../../core/errors.ts';
import { connectGuarded } from '../../../egress/guarded-tcp.ts';
import type { CallerStream } from '../../../caller-stream.ts';
import type { EgressGuard } from '../../../egress/guard.ts';
import { createByteTotal, type ByteLimit, createRtspClient, type RtspClient } from './rtsp-client.ts';
import { RtspProtocolError, RtspStatusError, rtspStreamError } from '../protocol/errors.ts';
import { openHttpTunnel } from './http-tunnel.ts';
import { headerValue, type RtspMessage } from '../protocol/message.ts';
import { isRecording, parseSdp, findVideoTrack, type VideoTrack } from '../protocol/sdp.ts';
import { readRtspUrl, type RtspTarget } from '../protocol/stream-url.ts';
import { openDeadline } from '../../../egress/deadline.ts';

/** Described live stream with an open connection. The receiver closes `client`. */
export type DescribedStream = {
  client: RtspClient;
  target: RtspTarget;
  track: VideoTrack;
  /** Method of the keep-alive requests of the session. */
  keepAliveMethod: string;
};

const connectTimeoutMs = 5_000;
/** A sleeping camera takes seconds to start its encoder at DESCRIBE. */
const defaultAnswerTimeoutMs = 8_000;
/** Maximum bytes that the server may send over the connection of one capture. */
const maxCaptureBytes = 96 * 1024 * 1024;

export type DescribeOptions = {
  guard: EgressGuard;
  /** Timeout of each response, in milliseconds. */
  answerTimeoutMs?: number;
  /** Default: the limit of one capture. */
  admitsBytes?: ByteLimit;
  /** Connections that probes have left. */
  handed?: { take(stream: CallerStream): DescribedStream | undefined } | undefined;
};

/**
 * Returns the connection that a probe has handed over, or sends OPTIONS and DESCRIBE, with the credentials of the URL
 * if challenged. Throws `InvalidUrlError`, `NotLiveError` for a recording, `StreamFetchError`, and the abort reason.
 */
export async function describeRtsp(
  stream: CallerStream,
  options: DescribeOptions,
  signal: AbortSignal,
): Promise<DescribedStream> {
  const target = readRtspUrl(stream.url, options.guard);
  const admitsBytes = options.admitsBytes ?? createByteTotal(maxCaptureBytes);
  const handed = options.handed?.take(stream);
  if (handed) {
    handed.client.limitBytes(admitsBytes);
    return closedOnFailure(handed.client, signal, async () => handed);
  }
  try {
    const answerTimeoutMs = options.answerTimeoutMs ?? defaultAnswerTimeoutMs;
    const connection = await connect(target, options.guard, answerTimeoutMs, signal);
    const client = createRtspClient(connection, target.credentials, { answerTimeoutMs, admitsBytes });
    return await closedOnFailure(client, signal, async () => ({
      client,
      target,
      keepAliveMethod: await askMethods(client, target),
      track: await describe(client, target),
    }));
  } catch (error) {
    signal.throwIfAborted();
    throw rtspStreamError(error, target);
  }
}

async function connect(
  target: RtspTarget,
  guard: EgressGuard,
  answerTimeoutMs: number,
  signal: AbortSignal,
): Promise<Duplex> {
  if (target.isTunnelled) return openHttpTunnel(guard, target, { timeoutMs: answerTimeoutMs, signal });
  const { host, port, isSecure } = target;
  return connectGuarded(guard, { host, port, isSecure, timeoutMs: connectTimeoutMs, signal });
}

/** Describes a stream again on its connection, to prove that it is still live. Throws like `RtspClient.request`. */
export async function describeAgain(
  { client, target, ...stream }: DescribedStream,
  signal: AbortSignal,
): Promise<DescribedStream> {
  return closedOnFailure(client, signal, async () => ({
    ...stream,
    client,
    target,
    track: await describe(client, target),
  }));
}

/** Closes the client if `work` fails or `signal` aborts at any later time. */
async function closedOnFailure<T>(
  client: RtspClient,
  signal: AbortSignal,
  work: () => Promise<T>,
): Promise<T> {
  const close = (): void => client.close();
  signal.addEventListener('abort', close, { once: true });
  client.onEnd(() => signal.removeEventListener('abort', close));
  if (signal.aborted) close();
  try {
    return await work();
  } catch (error) {
    close();
    throw error;
  }
}

/**
 * Returns the keep-alive method, as ffmpeg selects it: GET_PARAMETER if supported, because some servers count
 * nothing else; otherwise OPTIONS.
 */
async function askMethods(client: RtspClient, target: RtspTarget): Promise<string> {
  const answer = await client.request('OPTIONS', target.url).catch((error: unknown) => {
    if (error instanceof RtspStatusError && isIgnorable(error.status)) return null;
    throw error;
  });
  return /\bGET_PARAMETER\b/.test((answer && headerValue(answer, 'public')) ?? '')
    ? 'GET_PARAMETER'
    : 'OPTIONS';
}

/** Returns true if OPTIONS is unsupported, generally or for this path. DESCRIBE then shows if the stream exists. */
function isIgnorable(status: number): boolean {
  return status >= 400 && status !== 401 && status !== 403;
}

async function describe(client: RtspClient, target: RtspTarget): Promise<VideoTrack> {
  const answer = await client.request('DESCRIBE', target.url, [['Accept', 'application/sdp']]);
  const session = parseSdp(new TextDecoder().decode(answer.body));
  if (session.media.length === 0) throw new RtspProtocolError('DESCRIBE has no session description');
  if (isRecording(session)) {
    throw new NotLiveError(
      'The RTSP server describes this stream as a recording with an end. Use the URL of a live stream.',
    );
  }
  const track = findVideoTrack(session, baseUrl(answer, target));
  if (track !== null) return track;
  throw new StreamFetchError(
    session.media.some(({ type, protocol }) => type === 'video' && protocol.startsWith('RTP/SAVP'))
      ? 'The stream is encrypted with SRTP (RTP/SAVP), which is not read. Turn SRTP off in the camera; rtsps:// encrypts the stream instead if the camera has TLS.'
      : 'The stream has no video track with a supported codec. Configure the camera for H.264 or H.265.',
  );
}

/** Servers behind NAT report their private address here. It is only sent back to them as text. */
function baseUrl(answer: RtspMessage, target: RtspTarget): string {
  const named = ['content-base', 'content-location'].map((name) => headerValue(answer, name) ?? '');
  return named.find((base) => /^rtsps?:\/\/[\x21-\x7e]+$/i.test(base)) ?? target.url;
}

/** Runs work with a time limit for the whole: a camera that exceeds it has failed, however fast each response is. */
export async function withinTime<T>(
  timeoutMs: number,
  signal: AbortSignal,
  work: (bounded: AbortSignal) => Promise<T>,
): Promise<T> {
  const deadline = openDeadline(timeoutMs, signal);
  try {
    return await work(deadline.signal);
  } catch (error) {
    signal.throwIfAborted();
    if (!deadline.signal.aborted) throw error;
    throw new StreamFetchError(
      'The RTSP server did not finish in time. Check that the stream plays in a video player.',
      undefined,
      {
        cause: error,
      },
    );
  } finally {
    deadline.close();
  }
}
