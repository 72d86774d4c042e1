import { thumbnail } from '../core/records/capture.ts';
import { thumbnailFilter } from '../adapters/media/ffmpeg/capture-arguments.ts';
import { collectOutput, words } from './streams.ts';
import { rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import { join } from 'node:path';
import { createEgressGuard } from '../adapters/egress/guard.ts';
import { createGuardedHttp } from '../adapters/egress/guarded-http.ts';
import { poolDecoders } from '../adapters/media/ffmpeg/decoder-pool.ts';
import { createFfmpegRunner } from '../adapters/media/ffmpeg/run-ffmpeg.ts';
import { packetBytes, readPid } from '../adapters/media/mpeg-ts/packet.ts';
import { createTableReader } from '../adapters/media/mpeg-ts/psi.ts';
import { createStreamCapturer } from '../adapters/media/stream-capturer.ts';
import { openTemporaryFolder } from '../cli/temporary-folder.ts';
import { StreamFetchError } from '../core/errors.ts';
import { startHttpTunnel } from '../test/support/rtsp/http-tunnel.ts';
import { startCamera } from '../test/support/rtsp/camera.ts';
import { recordPackets } from '../test/support/rtsp/rtp-recording.ts';
import { openLocally } from '../test/support/servers/local-server.ts';
import { describeMachine, findFfmpeg } from './harness.ts';

/** Seconds and frames per second of the scene. */
const scene = { seconds: 3, rate: 10 };
/**
 * Blocks of a level each, which depends on their place and on the frame: no region of a picture is that of another one.
 */
const luma = '16+mod(X*X*7+Y*Y*13+X*Y*5+N*N*31+X*N*17+Y*N*23,211)';
const chroma = '64+mod(X*37+Y*59+N*41,128)';
const sceneArguments = [
  ...words('-f lavfi -i'),
  `nullsrc=size=64x36:rate=${scene.rate},format=yuv420p,geq=lum='${luma}':cb='${chroma}':cr='${chroma}',scale=320:180:flags=neighbor,setsar=1`,
  ...words(`-t ${scene.seconds}`),
];
const small = ['-vf', thumbnailFilter, ...words('-f rawvideo pipe:1')];
/** Maximum of the mean difference in a cell: encoders change levels by some, a concealed block by 70 on average. */
const maxDifference = 20;
const cells = { columns: 10, rows: 10 };

/** Returns a function that tells whether a picture is a frame of the scene, in each of its parts. */
async function openTruth(ffmpegPath: string) {
  const { width, height, bytes } = thumbnail;
  const split = (joined: Buffer) =>
    Array.from({ length: Math.floor(joined.length / bytes) }, (_, index) =>
      joined.subarray(index * bytes, (index + 1) * bytes),
    );
  const frames = split(await collectOutput(ffmpegPath, [...sceneArguments, ...small]));
  const wasSent = (picture: Uint8Array) => frames.some((frame) => isEqual(frame, picture));
  /** Returns true if ffmpeg alone gives a frame of the scene. */
  const givesWhole = async (source: readonly string[]) =>
    split(await collectOutput(ffmpegPath, [...source, ...small]).catch(() => Buffer.alloc(0))).some(wasSent);
  /** Returns true if all frames of a clip are of the scene. */
  const wasClipSent = async (file: string) =>
    split(await collectOutput(ffmpegPath, ['-i', file, ...small])).every(wasSent);
  return { wasSent, givesWhole, wasClipSent };

  function isEqual(frame: Uint8Array, picture: Uint8Array): boolean {
    const [cellWidth, cellHeight] = [width / cells.columns, height / cells.rows];
    for (let top = 0; top < height; top += cellHeight)
      for (let left = 0; left < width; left += cellWidth) {
        let sum = 0;
        for (let y = top; y < top + cellHeight; y += 1)
          for (let index = y * width + left, end = index + cellWidth; index < end; index += 1)
            sum += Math.abs((frame[index] ?? 0) - (picture[index] ?? 0));
        if (sum > maxDifference * cellWidth * cellHeight) return false;
      }
    return true;
  }
}

/**
 * Counts pictures that no camera sent, over the loss of packets. "Needless": failed, while ffmpeg alone gives a whole
 * key frame of the same bytes; each with its seed and reason on standard error.
 * Usage: npm run bench -- loss [captures of each kind and rate] [begin of the kinds]
 */

const [captures = '20', only = ''] = process.argv.slice(2);
const rates = [0.001, 0.01, 0.05, 0.2];
const atOnce = 4;

await using cleanup = new AsyncDisposableStack();
const located = await findFfmpeg();
const ffmpegPath = located.path;
const { path: tempDir } = cleanup.use(openTemporaryFolder('bench-loss-'));
const truth = await openTruth(ffmpegPath);
const guard = createEgressGuard({ allowRanges: ['127.0.0.1/32'] });
const http = createGuardedHttp(guard);
cleanup.defer(() => http.close());
const alone = createFfmpegRunner({ ffmpegPath, tempDir });
const ffmpeg = poolDecoders({ ffmpegPath, ffmpeg: alone, maxProcesses: 2 });
const capturer = createStreamCapturer({ guard, http, ffmpeg, now: () => new Date() });

const group = `-g ${scene.rate} -keyint_min ${scene.rate} -sc_threshold 0`;
const h264 = `-c:v libx264 -preset ultrafast -tune zerolatency -qp 22 -x264-params slices=4:sliced-threads=0 -bsf:v dump_extra ${group}`;
const h265 = `-c:v libx265 -preset ultrafast -tune zerolatency -x265-params log-level=none:repeat-headers=1:info=0:qp=22:slices=2 ${group}`;
const fragments = '-movflags frag_keyframe+empty_moov+default_base_moof -f mp4 pipe:1';
const encode = (line: string) => collectOutput(ffmpegPath, [...sceneArguments, ...words(line)]);

/** Source of numbers that are the same for every viewer of a stream. */
type Random = () => number;
type Body = (random: Random, rate: number) => Buffer;
type Opened = { url: string; close: () => Promise<void> };
type Kind = {
  name: string;
  open: (seed: number, rate: number) => Promise<Opened>;
  /** Arguments of ffmpeg before the address. */
  alone: string;
  mode?: 'clip';
};

/** Cuts bytes into pieces, and leaves some out. `keeps` names those that always arrive. */
function lose(bytes: Buffer, size: number, keeps: (piece: Buffer, index: number) => boolean): Body {
  const pieces = Array.from({ length: Math.ceil(bytes.length / size) }, (_, index) =>
    bytes.subarray(index * size, (index + 1) * size),
  );
  return (random, rate) =>
    Buffer.concat(pieces.filter((piece, index) => keeps(piece, index) || random() >= rate));
}

/** A transport stream loses packets of video. */
async function loseTs(codec: string): Promise<Body> {
  const bytes = await encode(`${codec} -f mpegts pipe:1`);
  const tables = createTableReader();
  for (let offset = 0; offset < bytes.length; offset += packetBytes)
    tables.read(bytes.subarray(offset, offset + packetBytes));
  return lose(bytes, packetBytes, (packet) => readPid(packet) !== tables.video()?.pid);
}

/** A JPEG loses bytes in its middle, and its end with the same probability. */
async function loseJpeg(line: string): Promise<Body> {
  const bytes = await encode(`-frames:v 1 -q:v 3 ${line} -f mjpeg pipe:1`);
  const size = 500;
  const body = lose(bytes, size, (_, index) => index < 2 || index * size > bytes.length - size);
  const cutsAt = 20;
  return (random, rate) => {
    const left = body(random, rate);
    return random() < rate * cutsAt ? left.subarray(0, Math.ceil(random() * left.length)) : left;
  };
}

async function loseMotionJpeg(format: string): Promise<Body> {
  return lose(await encode(`-q:v 3 -f ${format} pipe:1`), 1460, () => false);
}

/** The initialization section of MP4 always arrives. */
async function loseMp4(codec: string): Promise<{ type: string; initialization: Buffer; body: Body }> {
  const bytes = await encode(`${codec} ${fragments}`);
  const offset = bytes.indexOf('moof') - 4;
  const body = lose(bytes.subarray(offset), 1460, (_, index) => index === 0);
  return { type: 'video/mp4', initialization: bytes.subarray(0, offset), body };
}

const playlist = (map: string) =>
  Buffer.from(
    `#EXTM3U\n#EXT-X-VERSION:7\n#EXT-X-TARGETDURATION:${scene.seconds}\n${map}#EXTINF:${scene.seconds},\nmedia\n`,
  );

const motionJpeg = 'multipart/x-mixed-replace; boundary=frame';
/** Servers by the first part of their paths, with the types of their responses. */
const bodies: Record<string, { type: string; body: Body; initialization?: Buffer }> = {
  ts: { type: 'video/mp2t', body: await loseTs(h264) },
  'ts-h265': { type: 'video/mp2t', body: await loseTs(h265) },
  fmp4: await loseMp4(h264),
  'fmp4-h265': await loseMp4(`${h265} -tag:v hvc1`),
  jpeg: { type: 'image/jpeg', body: await loseJpeg('') },
  'motion-jpeg': { type: motionJpeg, body: await loseMotionJpeg('mpjpeg -boundary_tag frame') },
  'bare-jpegs': { type: motionJpeg, body: await loseMotionJpeg('mjpeg') },
};
const server = await openLocally(
  createServer((request, response) => {
    const [, name = '', rate = '', seed = '', file] = (request.url ?? '').split('/');
    const body = bodies[name];
    if (body === undefined) return void response.writeHead(404).end();
    const isPlaylist = file === 'list.m3u8';
    response.writeHead(200, { 'content-type': isPlaylist ? 'application/vnd.apple.mpegurl' : body.type });
    const lost = () => body.body(createRandom(Number(seed)), Number(rate));
    const media = isPlaylist ? playlist(body.initialization ? '#EXT-X-MAP:URI="init"\n' : '') : lost();
    response.end(file === 'init' ? body.initialization : media);
  }),
);
cleanup.defer(() => server.close());

const openPath =
  (name: string, file = '') =>
  async (seed: number, rate: number): Promise<Opened> => ({
    url: server.url(`/${name}/${rate}/${seed}/${file}`),
    close: async () => undefined,
  });

/** A camera that leaves out packets; with a relay, units, and all others have new numbers. */
async function openRtsp(codec: string, { isTunnelled = false, isRelayed = false } = {}) {
  const recording = await recordPackets(ffmpegPath, [...sceneArguments, ...words(codec)]);
  return async (seed: number, rate: number): Promise<Opened> => {
    const random = createRandom(seed);
    let isUnitLost = false;
    const isLost = recording.packets.map(({ bytes, isControl }) => {
      if (isControl) return false;
      if (!isRelayed) return random() < rate;
      if (!continuesUnit(bytes, codec)) isUnitLost = random() < rate;
      return isUnitLost;
    });
    const sequence = { next: 0 };
    const camera = await startCamera(recording, {
      packet: ({ bytes, isControl }, index) => {
        if (isLost[index]) return null;
        return isRelayed && !isControl ? renumber(bytes, sequence) : bytes;
      },
      closesAfter: recording.packets.length - 1,
    });
    if (!isTunnelled) return camera;
    const tunnel = await startHttpTunnel(camera.url);
    return { url: tunnel.url, close: async () => void (await Promise.all([tunnel.close(), camera.close()])) };
  };
}

/** Returns true for a fragment of a unit but its first one. */
function continuesUnit(packet: Buffer, codec: string): boolean {
  const [first = 0, second = 0, third = 0] = packet.subarray(12);
  return codec.includes('x265')
    ? ((first >> 1) & 0x3f) === 49 && third < 0x80
    : (first & 0x1f) === 28 && second < 0x80;
}

function renumber(packet: Buffer, sequence: { next: number }): Buffer {
  const written = Buffer.from(packet);
  written.writeUInt16BE((sequence.next += 1) & 0xffff, 2);
  return written;
}

const tcp = '-rtsp_transport tcp -allowed_media_types video';
const relayed = { isRelayed: true };
const kinds: Kind[] = [
  { name: 'RTSP, H.264', open: await openRtsp(h264), alone: tcp },
  { name: 'RTSP, H.265', open: await openRtsp(h265), alone: tcp },
  { name: 'RTSP, H.264, clip', open: await openRtsp(h264), alone: tcp, mode: 'clip' },
  {
    name: 'HTTP tunnel, H.264',
    open: await openRtsp(h264, { isTunnelled: true }),
    alone: '-rtsp_transport http',
  },
  { name: 'relay, H.264', open: await openRtsp(h264, relayed), alone: tcp },
  { name: 'relay, H.265', open: await openRtsp(h265, relayed), alone: tcp },
  { name: 'relay, H.264, clip', open: await openRtsp(h264, relayed), alone: tcp, mode: 'clip' },
  { name: 'relay, H.265, clip', open: await openRtsp(h265, relayed), alone: tcp, mode: 'clip' },
  { name: 'MPEG-TS, H.264', open: openPath('ts'), alone: '' },
  { name: 'MPEG-TS, H.265', open: openPath('ts-h265'), alone: '' },
  { name: 'MPEG-TS, H.264, clip', open: openPath('ts'), alone: '', mode: 'clip' },
  { name: 'HLS, H.264', open: openPath('ts', 'list.m3u8'), alone: '-allowed_extensions ALL' },
  { name: 'HLS, H.265', open: openPath('ts-h265', 'list.m3u8'), alone: '-allowed_extensions ALL' },
  {
    name: 'HLS, H.264, clip',
    open: openPath('ts', 'list.m3u8'),
    alone: '-allowed_extensions ALL',
    mode: 'clip',
  },
  { name: 'HLS of MP4, H.264', open: openPath('fmp4', 'list.m3u8'), alone: '-allowed_extensions ALL' },
  { name: 'HLS of MP4, H.265', open: openPath('fmp4-h265', 'list.m3u8'), alone: '-allowed_extensions ALL' },
  { name: 'JPEG', open: openPath('jpeg'), alone: '' },
  { name: 'Motion JPEG', open: openPath('motion-jpeg'), alone: '' },
  { name: 'Motion JPEG without lengths', open: openPath('bare-jpegs'), alone: '' },
];

type Outcome = 'shown' | 'damaged' | 'otherwise' | 'needless' | 'invented';

async function captureOnce(kind: Kind, rate: number, seed: number): Promise<Outcome> {
  const { mode = 'frames' } = kind;
  const { url, close } = await kind.open(seed, rate);
  const request = { url, mode, clipSeconds: 1, caller: 'bench', resolveAgain: false } as const;
  try {
    const { thumbnail: pixels, clip } = await capturer.capture(request, AbortSignal.timeout(60_000));
    return truth.wasSent(pixels) && (clip === undefined || (await isClipSent(clip, seed)))
      ? 'shown'
      : 'invented';
  } catch (error) {
    if (!(error instanceof StreamFetchError)) throw error;
    // A clip needs more than one whole picture.
    const source = [...words(`-skip_frame nokey ${kind.alone} -i`), url.replace('rtsp+http', 'rtsp')];
    if (mode === 'frames' && (await truth.givesWhole(source))) {
      console.error(`${kind.name}, ${rate}, seed ${seed}: ${error.message}`);
      return 'needless';
    }
    return error.isDamaged ? 'damaged' : 'otherwise';
  } finally {
    await close();
  }
}

async function isClipSent(clip: Uint8Array, seed: number): Promise<boolean> {
  const file = join(tempDir, `${seed}.mp4`);
  await writeFile(file, clip);
  const wasSent = await truth.wasClipSent(file);
  await rm(file);
  return wasSent;
}

function createRandom(seed: number): Random {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    const mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    const more = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((more ^ (more >>> 14)) >>> 0) / 2 ** 32;
  };
}

console.log('| stream | loss | captures | pictures | damaged | otherwise | needless | invented |');
console.log('| --- | --: | --: | --: | --: | --: | --: | --: |');
for (const kind of kinds.filter(({ name }) => name.startsWith(only)))
  for (const rate of rates) {
    const counts = { shown: 0, damaged: 0, otherwise: 0, needless: 0, invented: 0 };
    const seeds = Array.from({ length: Number(captures) }, (_, index) => index + 1).values();
    const work = async () => {
      for (const seed of seeds) {
        counts[await captureOnce(kind, rate, seed)] += 1;
      }
    };
    await Promise.all(Array.from({ length: atOnce }, work));
    console.log(`| ${[kind.name, `${rate * 100} %`, captures, ...Object.values(counts)].join(' | ')} |`);
    if (counts.invented > 0) process.exitCode = 1;
  }
console.log(describeMachine(located));
