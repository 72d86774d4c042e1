import { randomBytes } from 'node:crypto';
import { BlockList, isIP } from 'node:net';
import fc from 'fast-check';
import { createEgressGuard } from '../../../adapters/egress/guard.ts';
import { EgressRefusedError } from '../../../adapters/egress/errors.ts';
import type { GuardedHttp } from '../../../adapters/egress/guarded-http.ts';
import { NoFrameDecodedError, ImageDecodeError } from '../../../adapters/media/ffmpeg/errors.ts';
import type { ImageDecoder } from '../../../adapters/media/ffmpeg/decode-image.ts';
import type { FfmpegInput, FfmpegRunner } from '../../../adapters/media/ffmpeg/run-ffmpeg.ts';
import { createHlsCapturer } from '../../../adapters/media/hls/capture-hls.ts';
import { createKeyFrameTracker } from '../../../adapters/media/hls/segments/key-frame-tracker.ts';
import { extractLastKeyFrame } from '../../../adapters/media/mpeg-ts/extract-key-frames.ts';
import type { Segment } from '../../../adapters/media/hls/playlist/playlist.ts';
import { authorization, readChallenge } from '../../../adapters/egress/authorizer.ts';
import { RtspProtocolError } from '../../../adapters/media/rtsp/protocol/errors.ts';
import { createRtspReader, type RtspItem } from '../../../adapters/media/rtsp/protocol/reader.ts';
import {
  isRecording,
  parseSdp,
  describeTrack,
  findVideoTrack,
} from '../../../adapters/media/rtsp/protocol/sdp.ts';
import type { InputMode } from '../../../core/records/capture.ts';
import { StreamError } from '../../../core/errors.ts';
import { readJpegHeader } from '../../../core/stream/jpeg.ts';
import type { Recording } from '../../support/hls/recording.ts';
import { liveSdp } from '../../support/rtsp/scripted-server.ts';
import { inPieces, mutated } from './mutations.ts';
import { playlists } from './playlists.ts';
import { batch, sharedDecoderProperty, sharedImageProperty } from './shared-decoders.ts';
import { anyText } from '../../support/any-text.ts';

export type Real = { transport: Recording; fragmented: Recording; jpeg: Uint8Array; decoder: ImageDecoder };

/** Property to fuzz. */
export type Fuzzed = {
  name: string;
  /** Percentage of the cases; those that start ffmpeg are expensive. */
  share: number;
  /** Cases of a run. Default: 1. */
  batch?: number;
  property: fc.IRawProperty<unknown>;
  /** Cases so far: those that a decoder read, and those whose picture it returned. */
  counts?: { cases: number; decoded: number; shown: number };
};

export function fuzzed(real: Real): Fuzzed[] {
  return [
    {
      name: 'playlists',
      share: 40,
      property: playlistProperty(real.transport.segments[0] ?? Buffer.alloc(0)),
    },
    { name: 'segments', share: 15, property: segmentProperty(real) },
    { name: 'JPEG heads', share: 15, property: jpegHeadProperty(real.jpeg) },
    { name: 'JPEGs decoded', share: 1, property: jpegProperty(real) },
    { name: 'session descriptions', share: 12, property: sdpProperty },
    { name: 'RTSP messages', share: 12, property: rtspProperty },
    { name: 'addresses', share: 5, property: addressProperty },
    { name: 'key frames in shared decoders', share: 100, batch, ...sharedDecoderProperty() },
    { name: 'JPEGs in shared decoders', share: 3, property: sharedImageProperty() },
  ];
}

/**
 * Maximum requests of a capture: a playlist, up to two variants, each once more for its content type, and segments,
 * keys and initialization sections.
 */
const maxRequests = 400;

/**
 * Requires that a capture of any playlist ends with a frame or a named error, sends few requests, and only to
 * allowed addresses.
 */
function playlistProperty(segment: Uint8Array) {
  return fc.asyncProperty(
    playlists,
    playlists,
    fc.constantFrom<InputMode[]>('frames', 'clip'),
    async (outer, inner, mode) => {
      const asked: string[] = [];
      const http = scriptedHttp(asked, (url) => (url.pathname === '/live.m3u8' ? outer : inner), segment);
      let elapsedMs = 0;
      const capturer = createHlsCapturer({
        http,
        ffmpeg: drain,
        now: () => new Date('2026-11-20T12:00:00Z'),
        elapsedMs: () => elapsedMs,
        wait: async (delayMs) => {
          if (!(delayMs <= 10_000)) throw new Error(`waits for ${delayMs} ms`);
          elapsedMs += delayMs;
        },
        limits: { captureBytes },
      });
      const url = 'http://public.example/live.m3u8?v=127.0.0.1';
      const request = { url, mode, clipSeconds: 3, caller: 'ada', resolveAgain: false };
      await named(capturer.probe(url, never, 'ada'));
      await named(capturer.capture(request, never));
      if (asked.length > maxRequests) throw new Error(`${asked.length} requests`);
      const astray = asked.filter(leadsInside);
      if (astray.length > 0) throw new Error(`requested ${astray.join(' ')}`);
    },
  );
}

/** Classifies addresses with Node, independently of the guard. */
function leadsInside(url: string): boolean {
  const host = new URL(url).hostname.replace(/^\[|\]$/g, '');
  const family = isIP(host);
  if (family === 4) return insideV4.check(host, 'ipv4');
  return family === 6 ? !globalV6.check(host, 'ipv6') : host !== 'public.example';
}

const [insideV4, globalV6] = [new BlockList(), new BlockList()];
for (const range of [
  '0.0.0.0/8',
  '10.0.0.0/8',
  '127.0.0.0/8',
  '169.254.0.0/16',
  '192.168.0.0/16',
  '224.0.0.0/3',
]) {
  const [network = '', bits] = range.split('/');
  insideV4.addSubnet(network, Number(bits), 'ipv4');
}
globalV6.addSubnet('2000::', 3, 'ipv6');

/** Below the size of a playlist, which tells both apart. */
const captureBytes = 2 ** 22;

const never = new AbortController().signal;
const guard = createEgressGuard({
  allowRanges: [],
  lookup: async (host) => [{ address: host === 'public.example' ? '93.184.216.34' : '127.0.0.1', family: 4 }],
});

/** Checks URLs like the guarded client and responds from memory. */
function scriptedHttp(asked: string[], playlistAt: (url: URL) => string, segment: Uint8Array): GuardedHttp {
  return {
    async request(text, { maxBytes }) {
      const url = await guarded(text);
      asked.push(url.href);
      const isPlaylist = maxBytes > captureBytes;
      const body = isPlaylist ? Buffer.from(playlistAt(url)) : segment.subarray(0, 3760);
      return { status: 200, url: url.href, headers: {}, body: new Uint8Array(body) };
    },
    close: async () => undefined,
  };
}

async function guarded(text: string): Promise<URL> {
  let url: URL;
  try {
    url = guard.check(text, ['http', 'https']);
  } catch (cause) {
    throw new EgressRefusedError('URL is not allowed', { setting: 'WATCHPOST_ALLOW_RANGES', cause });
  }
  await guard.resolve(url.hostname);
  return url;
}

const drainInput = async (input: FfmpegInput): Promise<never> => {
  if (input.kind === 'pipe') for await (const _ of input.chunks);
  throw new NoFrameDecodedError('No picture');
};
const drain: FfmpegRunner = { run: drainInput, runAll: drainInput };

async function named(work: Promise<unknown>): Promise<void> {
  await work.catch((error: unknown) => {
    if (!(error instanceof StreamError)) throw error;
  });
}

/** Requires that damaged boxes and packets give a valid date or none, and no additional bytes. */
function segmentProperty({ transport, fragmented }: Real) {
  const ts = mutated(transport.segments[0]?.subarray(0, 18_800) ?? new Uint8Array());
  const mp4 = mutated(fragmented.segments[0]?.subarray(0, 4000) ?? new Uint8Array());
  const init = mutated(fragmented.initialization ?? new Uint8Array());
  return fc.asyncProperty(ts, mp4, init, async (packets, boxes, head) => {
    const frame = extractLastKeyFrame(packets);
    if (frame !== null && frame.length > packets.length + 376)
      throw new Error('The output is longer than the input');
    await dated([packets], 'a.ts', false);
    await dated([head, boxes], 'a.m4s', true);
    await dated([boxes], 'a.m4s', false);
  });
}

async function dated(parts: Uint8Array[], name: string, hasInitialization: boolean): Promise<void> {
  const segment: Segment = {
    url: `http://public.example/${name}`,
    byteRange: null,
    sequence: 1n,
    durationSeconds: 2,
    initialization: hasInitialization ? { url: 'http://public.example/init.mp4', byteRange: null } : null,
    key: null,
    startsAt: new Date('2026-11-20T12:00:00Z'),
    discontinuity: false,
    gap: false,
  };
  const clock = createKeyFrameTracker([segment]);
  for await (const _ of clock.watch(each(parts)));
  if (Number.isNaN(clock.lastKeyFrameAt()?.getTime())) throw new Error('Invalid date');
}

async function* each(parts: Uint8Array[]): AsyncGenerator<Uint8Array> {
  yield* parts;
}

function jpegHeadProperty(jpeg: Uint8Array) {
  return fc.property(fc.oneof(mutated(jpeg.subarray(0, 1000)), fc.uint8Array()), (bytes) => {
    const header = readJpegHeader(bytes);
    if (header === undefined) return;
    const sizes = [header.width, header.height];
    if (sizes.some((size) => !Number.isInteger(size) || size < 1 || size > 65_535))
      throw new Error(sizes.join(' x '));
  });
}

/** Requires that ffmpeg returns an image of the requested size or a named error. */
function jpegProperty({ jpeg, decoder }: Real) {
  return fc.asyncProperty(mutated(jpeg), async (bytes) => {
    const picture = await decoder.decode(bytes, { width: 16, height: 9 }, never).catch((error: unknown) => {
      if (!(error instanceof ImageDecodeError)) throw error;
    });
    if (picture !== undefined && picture.length !== 16 * 9 * 3) throw new Error(`${picture.length} bytes`);
  });
}

/** Requires that ffmpeg gets one track on loopback and no line of the server, for any description. */
const sdpProperty = fc.property(
  fc.oneof(
    mutated(Buffer.from(liveSdp)).map((bytes) => Buffer.from(bytes).toString('latin1')),
    fc.array(sdpLine(), { maxLength: 40 }).map((lines) => lines.join('\r\n')),
  ),
  (text) => {
    const session = parseSdp(text);
    isRecording(session);
    const track = findVideoTrack(session, 'rtsp://public.example/cam');
    if (track === null) return;
    const described = describeTrack(track, 'rtsp://127.0.0.1:1/secret');
    const lines = described.split(/\r\n|\r|\n/);
    if (lines.length > 10 || lines.filter((line) => /^[cmo]=/.test(line)).length !== 3)
      throw new Error(described);
    if (/[\r\n\0]/.test(track.controlUrl + track.sessionUrl)) throw new Error('A URL has several lines');
  },
);

function sdpLine() {
  const value = fc.oneof(
    anyText(),
    fc.constantFrom(
      'video 0 RTP/AVP 96',
      'rtpmap:96 H264/90000',
      'control:rtsp://127.0.0.1/',
      'range:npt=0-9',
      'fmtp:96 a=1\rc=IN IP4 1.1.1.1',
    ),
    fc.constantFrom(
      'control:*',
      'control:',
      'rtpmap:96 H264/1e999',
      'rtpmap:26 JPEG/-1',
      'video 0 RTP/AVP 26',
      'fmtp:96 x\u2028y',
    ),
  );
  return fc
    .tuple(fc.constantFrom('v', 'o', 's', 'c', 't', 'm', 'a', 'a', 'm'), value)
    .map((pair) => pair.join('='));
}

const messages = [
  `RTSP/1.0 200 OK\r\nCSeq: 1\r\nContent-Length: 5\r\n\r\nhello`,
  '$\x00\x00\x0c\x80\x60abcdefghij',
  'RTSP/1.0 401 No\r\nCSeq: 2\r\nWWW-Authenticate: Digest realm="a", nonce="b", qop="auth,auth-int"\r\n\r\n',
  'OPTIONS * RTSP/1.0\r\nCSeq: 3\r\n\r\n',
  '\r\n',
];

/**
 * Requires that a conversation parses the same for any split. A damaged one ends as a named error and adds no line
 * to responses.
 */
const rtspProperty = fc.property(
  fc.array(fc.constantFrom(...messages), { minLength: 1, maxLength: 6 }).chain((parts) => {
    const bytes = Buffer.from(parts.join(''), 'latin1');
    return fc.tuple(fc.constant(bytes), mutated(bytes));
  }),
  fc.array(fc.nat(40), { maxLength: 20 }),
  ([bytes, damaged], lengths) => {
    if (read([bytes])?.length !== read(inPieces(bytes, lengths))?.length)
      throw new Error('Splitting changes the result');
    for (const item of read([damaged]) ?? []) answerChallenge(item);
    for (const item of read(inPieces(damaged, lengths)) ?? []) answerChallenge(item);
  },
);

/** Returns null for text that is not RTSP. */
function read(pieces: Uint8Array[]): RtspItem[] | null {
  const reader = createRtspReader();
  try {
    return pieces.flatMap((piece) => reader.push(piece));
  } catch (error) {
    if (error instanceof RtspProtocolError) return null;
    throw error;
  }
}

function answerChallenge(item: RtspItem): void {
  if (item.kind === 'frame') return;
  const challenge = readChallenge(item.message.headers.map(([, value]) => value));
  if (challenge === null) return;
  const use = { method: 'DESCRIBE', uri: 'rtsp://a/', count: 1, clientNonce: randomBytes(4).toString('hex') };
  const answer = authorization(challenge, { username: 'user', password: 'secret' }, use);
  if (/[\r\n]/.test(answer) || answer.includes('secret')) throw new Error(answer);
}

/** Private address in any notation that a resolver accepts. */
const addressProperty = fc.asyncProperty(
  fc.constantFrom(
    ...[
      [127, 8],
      [10, 8],
      [0, 8],
      [224, 4],
      [240, 4],
    ].map(([first = 0, bits = 8]) => ({ first, bits })),
  ),
  fc.integer({ min: 0, max: 2 ** 32 - 1 }),
  fc.array(fc.constantFrom('decimal', 'hex', 'octal', 'padded'), { minLength: 4, maxLength: 4 }),
  fc.integer({ min: 1, max: 4 }),
  async ({ first, bits }, random, notations, parts) => {
    const address = ((first << 24) >>> 0) + (random % 2 ** (32 - bits));
    const host = written(address, notations, parts);
    for (const form of [host, `${host}.`, `[::ffff:${hexPair(address)}]`, `[64:ff9b::${hexPair(address)}]`]) {
      const refused = await guard.resolve(form).then(
        () => false,
        (error: unknown) => error instanceof EgressRefusedError,
      );
      if (!refused) throw new Error(`${form} was not rejected`);
    }
  },
);

/** Writes an address in one to four parts. The last part contains all remaining bytes. */
function written(address: number, notations: string[], parts: number): string {
  const bytes = [address >>> 24, (address >>> 16) & 255, (address >>> 8) & 255, address & 255];
  const head = bytes.slice(0, parts - 1);
  const last = address % 2 ** (8 * (4 - head.length));
  return [...head, last].map((value, at) => inNotation(value, notations[at] ?? 'decimal')).join('.');
}

function inNotation(value: number, notation: string): string {
  if (notation === 'hex') return `0x${value.toString(16)}`;
  if (notation === 'octal') return `0${value.toString(8)}`;
  return notation === 'padded' ? `0x0000${value.toString(16)}` : String(value);
}

function hexPair(address: number): string {
  return `${(address >>> 16).toString(16)}:${(address & 0xffff).toString(16)}`;
}
