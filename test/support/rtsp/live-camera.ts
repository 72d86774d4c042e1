import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { createServer, type Server, type Socket } from 'node:net';
import { createAccessUnitSplitter, nalType, rtpPayloads, readType, type AccessUnit } from './live-h264.ts';
import { formatMessage, headerValue, requestLine } from '../../../adapters/media/rtsp/protocol/message.ts';
import type { RtspHeader, RtspMessage } from '../../../adapters/media/rtsp/protocol/message.ts';
import { createRtspReader } from '../../../adapters/media/rtsp/protocol/reader.ts';
import { randomInt } from 'node:crypto';

/** Live stream of a camera, with its viewers. */
type Publication = {
  publish(picture: AccessUnit, timestampMs: number): void;
  /** Resolves to the SDP when the parameter sets are known; rejects if the stream ends before. */
  description(): Promise<string>;
  /** Sends RTP packets to a viewer, starting at the next key frame. Returns a function that stops it. */
  watch(take: (packet: Buffer) => void): () => void;
  fail(error: Error): void;
};

/** Creates a publication. `range` is the value of `a=range` in the SDP. */
function createPublication(range: string): Publication {
  const described = Promise.withResolvers<string>();
  described.promise.catch(() => undefined);
  const viewers = new Map<(packet: Buffer) => void, { started: boolean }>();
  const source = randomInt(2 ** 31);
  let sequence = 0;

  return {
    publish(picture, timestampMs) {
      const description = describe(picture, range);
      if (description !== null) described.resolve(description);
      const packets = picture.nalUnits.flatMap(rtpPayloads).map((payload, index, all) => {
        sequence = (sequence + 1) & 0xffff;
        return rtpPacket({ payload, sequence, timestampMs, source, isLast: index === all.length - 1 });
      });
      for (const [take, viewer] of viewers) {
        viewer.started ||= picture.isKeyFrame;
        if (viewer.started) packets.forEach(take);
      }
    },
    description: () => described.promise,
    watch(take) {
      viewers.set(take, { started: false });
      return () => void viewers.delete(take);
    },
    fail: (error) => described.reject(error),
  };
}

function describe(picture: AccessUnit, range: string): string | null {
  const sequenceParameters = picture.nalUnits.find((unit) => readType(unit) === nalType.sequenceParameters);
  const pictureParameters = picture.nalUnits.find((unit) => readType(unit) === nalType.pictureParameters);
  if (sequenceParameters === undefined || pictureParameters === undefined) return null;
  const profile = sequenceParameters.toString('hex', 1, 4);
  const sets = [sequenceParameters, pictureParameters].map((unit) => unit.toString('base64')).join(',');
  return [
    'v=0',
    'o=- 0 0 IN IP4 127.0.0.1',
    's=camera of tests',
    'c=IN IP4 0.0.0.0',
    't=0 0',
    `a=range:${range}`,
    'a=control:*',
    `m=video 0 RTP/AVP ${payloadType}`,
    `a=rtpmap:${payloadType} H264/${clockRate}`,
    `a=fmtp:${payloadType} packetization-mode=1;profile-level-id=${profile};sprop-parameter-sets=${sets}`,
    `a=control:${trackName}`,
    '',
  ].join('\r\n');
}

/** Control name of the only track, in the SDP and in SETUP. */
const trackName = 'trackID=0';
const payloadType = 96;
const clockRate = 90_000;

type Packet = { payload: Buffer; sequence: number; timestampMs: number; source: number; isLast: boolean };

function rtpPacket({ payload, sequence, timestampMs, source, isLast }: Packet): Buffer {
  const head = Buffer.alloc(12);
  head.writeUInt8(0x80, 0);
  head.writeUInt8((isLast ? 0x80 : 0) | payloadType, 1);
  head.writeUInt16BE(sequence, 2);
  head.writeUInt32BE(Math.round((timestampMs * clockRate) / 1000) % 2 ** 32, 4);
  head.writeUInt32BE(source, 8);
  return Buffer.concat([head, payload]);
}

/** Serves one RTSP connection until it closes. Sends the stream as interleaved frames after PLAY. */
function serveViewer(socket: Socket, publication: Publication, path: string): void {
  const reader = createRtspReader();
  let channel = 0;
  let stop: (() => void) | null = null;

  socket.on('error', () => undefined);
  socket.on('close', () => stop?.());
  socket.on('data', (chunk: Buffer) => {
    try {
      for (const item of reader.push(chunk)) if (item.kind === 'message') void handle(item.message);
    } catch {
      socket.destroy();
    }
  });

  async function handle(request: RtspMessage): Promise<void> {
    const line = requestLine(request.startLine);
    if (line === null) return void socket.destroy();
    const respond = (status: string, headers: RtspHeader[] = [], body = ''): void => {
      const all: RtspHeader[] = [['CSeq', headerValue(request, 'cseq') ?? '0'], ...headers];
      if (!socket.destroyed) socket.write(formatMessage(`RTSP/1.0 ${status}`, all, body));
    };
    if (line.method !== 'OPTIONS' && !isKnownPath(line.url, path)) return respond('404 Not Found');
    switch (line.method) {
      case 'OPTIONS':
        return respond('200 OK', [['Public', methods]]);
      case 'DESCRIBE':
        return answerDescribe(line.url, respond);
      case 'SETUP':
        return setUp(headerValue(request, 'transport') ?? '', respond);
      case 'PLAY':
        respond('200 OK', [session, ['Range', 'npt=now-']]);
        stop ??= publication.watch(send);
        return;
      case 'TEARDOWN':
        respond('200 OK', [session]);
        return void socket.end();
      case 'GET_PARAMETER':
      case 'SET_PARAMETER':
        return respond('200 OK', [session]);
      default:
        return respond('501 Not Implemented');
    }
  }

  async function answerDescribe(url: string, respond: Respond): Promise<void> {
    try {
      const description = await publication.description();
      respond(
        '200 OK',
        [
          ['Content-Base', `${url.replace(/\/$/, '')}/`],
          ['Content-Type', 'application/sdp'],
        ],
        description,
      );
    } catch {
      respond('503 Service Unavailable');
    }
  }

  function setUp(transport: string, respond: Respond): void {
    if (!transport.includes('RTP/AVP/TCP')) return respond('461 Unsupported Transport');
    channel = Number(/interleaved=(\d{1,3})/.exec(transport)?.[1] ?? 0) % 255;
    respond('200 OK', [session, ['Transport', `RTP/AVP/TCP;unicast;interleaved=${channel}-${channel + 1}`]]);
  }

  function send(packet: Buffer): void {
    // Disconnects a viewer that does not read, so that unsent data stays bounded.
    if (socket.writableLength > maxUnsentBytes) return void socket.destroy();
    const head = Buffer.from([0x24, channel, packet.length >> 8, packet.length & 0xff]);
    socket.write(Buffer.concat([head, packet]));
  }
}

type Respond = (status: string, headers?: RtspHeader[], body?: string) => void;

const maxUnsentBytes = 8 * 1024 * 1024;
const methods = 'OPTIONS, DESCRIBE, SETUP, PLAY, GET_PARAMETER, SET_PARAMETER, TEARDOWN';
/** Constant session id: each connection has exactly one session. */
const session: RtspHeader = ['Session', '1;timeout=60'];

function isKnownPath(url: string, path: string): boolean {
  const requested = URL.parse(url)?.pathname.replace(/\/$/, '');
  return requested === path || requested === `${path}/${trackName}`;
}

/** Source and address of the stream. */
export type RtspServerOptions = {
  ffmpegPath: string;
  /**
   * Arguments of ffmpeg before the encoder of an output: real-time inputs (`-re`), other outputs of the same ffmpeg,
   * filters and `-map`.
   */
  inputArgs: string[];
  /** Path with leading slash: `/live`. */
  path: string;
  /** Default: any free port. */
  port?: number;
  host?: '127.0.0.1';
  /** Value of `a=range` in the SDP. Default: `npt=now-`; a range with an end marks a recording. */
  range?: string;
  /** Frames between two key frames. Default: 25. */
  keyFrameEvery?: number;
};

/** Running RTSP server. */
export type RtspServer = {
  url: string;
  /** Resolves when ffmpeg ends, for any reason. */
  ended: Promise<void>;
  close(): Promise<void>;
};

/**
 * Starts an RTSP server with one live H.264 stream from ffmpeg, over interleaved TCP. Rethrows errors of spawn and
 * listen.
 */
export async function startRtspServer(options: RtspServerOptions): Promise<RtspServer> {
  const publication = createPublication(options.range ?? 'npt=now-');
  const viewers = new Set<Socket>();
  const server = createServer((socket) => {
    viewers.add(socket.once('close', () => viewers.delete(socket)));
    serveViewer(socket, publication, options.path);
  });
  const port = await listen(server, options);
  const encoder = encode(options);
  const ended = new Promise<void>((resolve) => {
    encoder.once('close', () => {
      publication.fail(new Error('ffmpeg has ended'));
      for (const viewer of viewers) viewer.destroy();
      resolve();
    });
  });
  const splitter = createAccessUnitSplitter();
  encoder.stdout?.on('data', (chunk: Buffer) => {
    for (const picture of splitter.push(chunk)) publication.publish(picture, performance.now());
  });
  try {
    await once(encoder, 'spawn');
  } catch (error) {
    server.close();
    throw error;
  }
  return {
    url: `rtsp://127.0.0.1:${port}${options.path}`,
    ended,
    async close() {
      encoder.kill('SIGKILL');
      await ended;
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

async function listen(server: Server, options: RtspServerOptions): Promise<number> {
  server.listen(options.port ?? 0, options.host ?? '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('The RTSP server has no port');
  return address.port;
}

function encode({ ffmpegPath, inputArgs, keyFrameEvery = 25 }: RtspServerOptions): ChildProcess {
  // Each access unit begins with a delimiter and each key frame with parameter sets, so that viewers can join at a key
  // frame.
  const output = `-an -c:v libx264 -preset ultrafast -tune zerolatency -pix_fmt yuv420p -g ${keyFrameEvery} -x264-params aud=1:repeat-headers=1:scenecut=0 -flush_packets 1 -f h264 pipe:1`;
  const args = ['-hide_banner', '-nostdin', '-loglevel', 'fatal', ...inputArgs, ...output.split(' ')];
  return spawn(ffmpegPath, args, { stdio: ['ignore', 'pipe', 'ignore'] });
}
