import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdir, mkdtemp, readdir, readFile, rename, rm } from 'node:fs/promises';
import { createServer } from 'node:http';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { openLocally } from '../servers/local-server.ts';
import {
  packetBytes,
  packetPayload,
  readPid,
  startsPayloadUnit,
} from '../../../adapters/media/mpeg-ts/packet.ts';
import { sharedFolder } from '../runner/run-folder.ts';

/** Live HLS stream without an encoder of its own: a recording in a loop, in real time. */
export type LoopedStream = {
  url: string;
  /** Shows another picture of the same size and rate from the next segment on. */
  show(picture: Picture): Promise<void>;
  close(): Promise<void>;
};

type Picture = string | readonly string[];

const windowSegments = 6;
/** Seconds of a recording, each a segment. */
export const loopSeconds = 10;
const ticksPerSecond = 90_000;

/**
 * Starts a live stream of a picture: a source of ffmpeg, or arguments with inputs and filters, which is recorded once
 * for a run. Its clock and its packet counters run on from one loop to the next, so that a viewer sees a stream without
 * a break. Default port: any free port.
 */
export async function startLoop(
  picture: Picture,
  { port = 0, ffmpegPath = process.env['WATCHPOST_FFMPEG'] || 'ffmpeg' } = {},
): Promise<LoopedStream> {
  const startedMs = Date.now() - windowSegments * 1000;
  const window = new Map<number, Buffer>();
  const counters = new Map<number, number>();
  let segments = await recordLoop(picture, ffmpegPath);
  let made = 0;

  /** Adds the segments that have ended since the last call. */
  const advance = (): void => {
    for (const due = Math.floor((Date.now() - startedMs) / 1000); made < due; made += 1) {
      const at = made % loopSeconds;
      window.set(made, shift(segments[at] ?? Buffer.alloc(0), (made - at) * ticksPerSecond, counters));
      // One that left the playlist can still be read for a while.
      window.delete(made - 2 * windowSegments);
    }
  };
  const server = createServer(({ url = '' }, response) => {
    advance();
    const number = /^\/(\d+)\.ts/.exec(url)?.[1];
    const body =
      number === undefined
        ? url.startsWith('/live.m3u8') && playlist(made, startedMs)
        : window.get(Number(number));
    if (!body) return void response.writeHead(404).end();
    const type = number === undefined ? 'application/vnd.apple.mpegurl' : 'video/mp2t';
    response.writeHead(200, { 'content-type': type, 'cache-control': 'no-cache' }).end(body);
  });
  const { url, close } = await openLocally(server, port);
  return {
    url: url('/live.m3u8'),
    show: async (other) => {
      const shown = await recordLoop(other, ffmpegPath);
      advance();
      segments = shown;
    },
    close,
  };
}

function playlist(made: number, startedMs: number): string {
  const oldest = made - windowSegments;
  return [
    '#EXTM3U',
    '#EXT-X-VERSION:3',
    '#EXT-X-TARGETDURATION:1',
    `#EXT-X-MEDIA-SEQUENCE:${oldest}`,
    ...Array.from({ length: windowSegments }, (_, index) => oldest + index).flatMap((sequence) => [
      '#EXTINF:1.000000,',
      `#EXT-X-PROGRAM-DATE-TIME:${new Date(startedMs + sequence * 1000).toISOString()}`,
      `${sequence}.ts`,
    ]),
    '',
  ].join('\n');
}

/** Returns the segments of a picture, encoded as `startLiveHls` does; each picture is recorded once per run. */
async function recordLoop(picture: Picture, ffmpegPath: string): Promise<Buffer[]> {
  const shared = sharedFolder();
  const name = join(
    shared,
    `loop-${createHash('sha256').update(String(picture)).digest('hex').slice(0, 16)}`,
  );
  await mkdir(shared, { recursive: true });
  if ((await readdir(name).catch(() => [])).length === 0) {
    const directory = await mkdtemp(`${name}-`);
    const encoding =
      '-an -c:v libx264 -preset ultrafast -tune zerolatency -pix_fmt yuv420p -bf 0 -force_key_frames expr:gte(t,n_forced) -f hls -hls_time 1 -hls_list_size 0';
    const input = typeof picture === 'string' ? ['-f', 'lavfi', '-i', picture] : picture;
    const options = ['-nostdin', '-loglevel', 'error', ...input, '-t', String(loopSeconds)];
    const files = ['-hls_segment_filename', join(directory, '%d.ts'), join(directory, 'list.m3u8')];
    await promisify(execFile)(ffmpegPath, [...options, ...encoding.split(' '), ...files]);
    // If two processes record the same picture, the first recording remains.
    await rename(directory, name).catch(() => rm(directory, { recursive: true, force: true }));
  }
  return Promise.all(Array.from({ length: loopSeconds }, (_, at) => readFile(join(name, `${at}.ts`))));
}

/**
 * Returns a copy of a transport stream with later clocks, and with packet counters that continue those of the stream
 * before.
 */
function shift(segment: Buffer, ticks: number, counters: Map<number, number>): Buffer {
  const shifted = Buffer.from(segment);
  for (let at = 0; at < shifted.length; at += packetBytes) {
    const packet = shifted.subarray(at, at + packetBytes);
    const header = packet.readUInt8(3);
    const hasPayload = (header & 0x10) !== 0;
    if (hasPayload) {
      const counter = counters.get(readPid(packet)) ?? 0;
      packet.writeUInt8((header & 0xf0) | counter, 3);
      counters.set(readPid(packet), (counter + 1) % 16);
    }
    // An adaptation field with a program clock reference.
    if ((header & 0x20) !== 0 && packet.readUInt8(4) > 0 && (packet.readUInt8(5) & 0x10) !== 0) {
      const clock = packet.readUInt32BE(6) * 2 + (packet.readUInt8(10) >> 7) + ticks;
      packet.writeUInt32BE(Math.floor(clock / 2), 6);
      packet.writeUInt8((packet.readUInt8(10) & 0x7f) | ((clock % 2) << 7), 10);
    }
    const { buffer, byteOffset, length } = packetPayload(packet);
    const payload = Buffer.from(buffer, byteOffset, length);
    // A packet that begins a picture, with its head; the other packets have no times.
    if (!startsPayloadUnit(packet) || length < 14 || payload.readUIntBE(0, 3) !== 1) continue;
    const stamps = payload.readUInt8(7) >> 6;
    if (stamps >= 2) shiftStamp(payload.subarray(9, 14), ticks);
    if (stamps === 3) shiftStamp(payload.subarray(14, 19), ticks);
  }
  return shifted;
}

/** Moves a presentation or decoding time of 33 bits, which three marker bits divide. */
function shiftStamp(bytes: Buffer, ticks: number): void {
  const [high, middle, low] = [bytes.readUInt8(0), bytes.readUInt16BE(1), bytes.readUInt16BE(3)];
  const time = ((high >> 1) & 7) * 2 ** 30 + (middle >> 1) * 2 ** 15 + (low >> 1) + ticks;
  bytes.writeUInt8((high & 0xf0) | (Math.floor(time / 2 ** 30) << 1) | 1, 0);
  bytes.writeUInt16BE((Math.floor(time / 2 ** 15) % 2 ** 15) * 2 + 1, 1);
  bytes.writeUInt16BE((time % 2 ** 15) * 2 + 1, 3);
}
