/**
 * Serves recordings as live streams in real time, over HLS and RTSP, for `startStreams`. A process of its own, whose
 * processor time does not count. Answers the message, what to play, with the addresses and the time at which the
 * recordings began.
 */
import { once } from 'node:events';
import { readdir, readFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { Socket } from 'node:net';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { openTemporaryFolder } from '../cli/temporary-folder.ts';
import { openLocally } from '../test/support/servers/local-server.ts';
import { startCamera } from '../test/support/rtsp/camera.ts';
import { recordPackets } from '../test/support/rtsp/rtp-recording.ts';
import { type LiveStream, type Part, runFfmpeg, type StreamsConfig, words } from './streams.ts';

process.on('disconnect', () => process.exit());
process.send?.('ready');
const [config] = await once(process, 'message');
const { ffmpegPath, ageSeconds, delayMs = 0, streams }: StreamsConfig = config;
const windowSegments = 6;
const clockRate = 90_000;
const maxUnsentBytes = 8e6;

const hls = new Map(streams.filter(({ segmentSeconds }) => segmentSeconds > 0).map((one) => [one.name, one]));
const rtsp = streams.filter(({ segmentSeconds }) => segmentSeconds === 0);
const cutFile = remember(cut);
const readFrames = remember(splitFrames);
for (const { renditions, segmentSeconds } of hls.values())
  for (const { file } of renditions) await cutFile(file, segmentSeconds);
for (const { renditions } of rtsp) await readFrames(renditions[0].file);

const startedAtMs = Date.now() - ageSeconds * 1000;
const urls: Record<string, string> = {};
const cameras = await Promise.all(rtsp.map((stream, index) => openCamera(stream, index / rtsp.length)));
setInterval(() => cameras.forEach((play) => play()), 5);
const server = await openLocally(
  createServer((request, response) => {
    void sleep(delayMs)
      .then(() => find(request.url ?? ''))
      .then((content) => response.writeHead(content === undefined ? 404 : 200).end(content));
  }),
);
for (const name of hls.keys()) urls[name] = server.url(`/${name}/live.m3u8`);
process.send?.({ startedAtMs, urls });

/**
 * Finds `/NAME/master.m3u8`, and `live.m3u8` and segments of the first rendition, or with its height before the name of
 * the file.
 */
async function find(path: string): Promise<Buffer | string | undefined> {
  const [, name = '', ...rest] = path.split('/');
  const [height, file = ''] = rest.length > 1 ? rest : [undefined, rest[0]];
  const stream = hls.get(name);
  if (stream === undefined) return undefined;
  const { renditions, segmentSeconds, windowSeconds, part } = stream;
  if (file === 'master.m3u8') return multivariant(renditions);
  if (file === 'live.m3u8') return playlist(segmentSeconds, windowSeconds);
  const rendition = renditions.find((one) => String(one.height) === height) ?? renditions[0];
  const segments = await cutFile(rendition.file, segmentSeconds);
  return segments[locate(part, Number.parseInt(file), 1 / segmentSeconds, segments.length).index];
}

function multivariant(renditions: LiveStream['renditions']): string {
  const variants = renditions.map(({ height }) => {
    const size = `${Math.round((height * 16) / 9)}x${height}`;
    return `#EXT-X-STREAM-INF:BANDWIDTH=${height * 2000},RESOLUTION=${size}\n${height}/live.m3u8`;
  });
  return ['#EXTM3U', ...variants, ''].join('\n');
}

/** Returns the playlist. A segment is available once its last frame is. */
function playlist(seconds: number, windowSeconds = windowSegments * seconds): string {
  const newest = Math.floor((Date.now() - startedAtMs) / 1000 / seconds) - 1;
  const oldest = Math.max(0, newest - Math.ceil(windowSeconds / seconds) + 1);
  const head = `#EXTM3U\n#EXT-X-VERSION:3\n#EXT-X-TARGETDURATION:${seconds}\n#EXT-X-MEDIA-SEQUENCE:${oldest}\n`;
  const lines = Array.from({ length: Math.max(0, newest - oldest + 1) }, (_, index) => {
    const startsAt = new Date(startedAtMs + (oldest + index) * seconds * 1000);
    return `#EXT-X-PROGRAM-DATE-TIME:${startsAt.toISOString()}\n#EXTINF:${seconds},\n${oldest + index}.ts\n`;
  });
  return head + lines.join('');
}

/**
 * Returns which one of `count` segments or frames is number `played` of a stream, and how often its part has begun
 * before.
 */
function locate(part: Part | undefined, played: number, perSecond: number, count: number) {
  const first = Math.round((part?.fromSeconds ?? 0) * perSecond);
  const length = part === undefined ? count : Math.max(1, Math.round(part.seconds * perSecond));
  const position = played + Math.round((part?.beginsAtSeconds ?? 0) * perSecond);
  return { first, index: first + (position % length), rounds: Math.floor(position / length), length };
}

/**
 * Returns a function that sends the frames that are due to the viewers of a camera, who join at any frame. Cameras
 * share the time of a frame evenly.
 */
async function openCamera({ name, part, renditions, framesPerSecond }: LiveStream, phase: number) {
  const viewers = new Set<Socket>();
  const { description, frames } = await readFrames(renditions[0].file);
  const play = (viewer: Socket) => viewers.add(viewer.once('close', () => viewers.delete(viewer)));
  const camera = await startCamera({ description, packets: [] }, { play });
  urls[name] = camera.url;
  let next = Math.round(ageSeconds * framesPerSecond);
  let sequence = 0;
  return (): void => {
    const due = ((Date.now() - startedAtMs) / 1000) * framesPerSecond - phase;
    for (; next < due; next += 1) {
      const { first, index, rounds, length } = locate(part, next, framesPerSecond, frames.length);
      const frame = frames[index];
      if (frame === undefined || viewers.size === 0) continue;
      const inPart = frame.timestamp - (frames[first]?.timestamp ?? 0);
      const timestamp =
        inPart + Math.round(((rounds * length + framesPerSecond) / framesPerSecond) * clockRate);
      const sent = Buffer.from(frame.bytes);
      for (const offset of frame.offsets) {
        sent.writeUInt16BE(sequence, offset + 2);
        sent.writeUInt32BE(timestamp % 2 ** 32, offset + 4);
        sequence = (sequence + 1) & 0xffff;
      }
      for (const viewer of viewers)
        if (viewer.writableLength > maxUnsentBytes) viewer.destroy();
        else viewer.write(sent);
    }
  };
}

/**
 * RTP packets of one time as a viewer gets them, interleaved, with the places of their headers; the timestamp counts
 * from the first frame.
 */
type Frame = { bytes: Buffer; offsets: number[]; timestamp: number };

async function splitFrames(file: string): Promise<{ description: string; frames: Frame[] }> {
  const { description, packets } = await recordPackets(ffmpegPath, ['-i', file, '-an', '-c', 'copy']);
  const media = packets.filter(({ isControl }) => !isControl).map((packet) => packet.bytes);
  const begin = media[0]?.readUInt32BE(4) ?? 0;
  const frames = Map.groupBy(media, (packet) => (packet.readUInt32BE(4) - begin) | 0);
  return {
    description,
    frames: Array.from(frames, ([timestamp, group]) => {
      const parts = group.map((packet) =>
        Buffer.concat([Buffer.from([0x24, 0, packet.length >> 8, packet.length & 0xff]), packet]),
      );
      const offsets = parts.map(
        (_, index) => 4 + parts.slice(0, index).reduce((sum, { length }) => sum + length, 0),
      );
      return { bytes: Buffer.concat(parts), offsets, timestamp };
    }),
  };
}

async function cut(file: string, segmentSeconds: number): Promise<Buffer[]> {
  using folder = openTemporaryFolder('watchpost-segments-');
  const output = words(`-c copy -f segment -segment_time ${segmentSeconds} -segment_format mpegts`);
  await runFfmpeg(ffmpegPath, ['-i', file, ...output, join(folder.path, '%06d.ts')]);
  const names = (await readdir(folder.path)).toSorted();
  return await Promise.all(names.map((segment) => readFile(join(folder.path, segment))));
}

/** Calls `make` once for the same arguments. */
function remember<Args extends unknown[], Made>(make: (...args: Args) => Made): (...args: Args) => Made {
  const made = new Map<string, Made>();
  return (...args) => {
    const key = JSON.stringify(args);
    const earlier = made.get(key) ?? make(...args);
    made.set(key, earlier);
    return earlier;
  };
}
