import { tmpdir } from 'node:os';
import { Readable } from 'node:stream';
import { createEgressGuard } from '../adapters/egress/guard.ts';
import { locateFfmpeg } from '../adapters/media/ffmpeg/locate-ffmpeg.ts';
import { createFfmpegRunner } from '../adapters/media/ffmpeg/run-ffmpeg.ts';
import { packetBytes, readPid } from '../adapters/media/mpeg-ts/packet.ts';
import { createTableReader } from '../adapters/media/mpeg-ts/psi.ts';
import { createRtspCapturer } from '../adapters/media/rtsp/capture-rtsp.ts';
import { captureTsStream } from '../adapters/media/ts-stream/capture-ts-stream.ts';
import { StreamError } from '../core/errors.ts';
import { thumbnail } from '../core/records/capture.ts';
import { record } from '../test/support/hls/recording.ts';
import { startCamera } from '../test/support/rtsp/camera.ts';
import { recordRtp } from '../test/support/rtsp/rtp-recording.ts';

/**
 * Counts pictures that no camera sent, over the loss of packets: `npm run bench -- loss [captures of each kind]`. The brightness of a sent picture is flat, and its
 * time: what a decoder has made up is neither.
 */

const captures = Number(process.argv[2] ?? 100);
const rates = [0.001, 0.01, 0.05, 0.2];
const never = new AbortController().signal;
const ffmpeg = createFfmpegRunner({
  ffmpegPath: (await locateFfmpeg({ env: process.env })).path,
  tempDir: tmpdir(),
});
const request = { url: '', mode: 'frames', clipSeconds: 1, caller: 'bench', resolveAgain: false } as const;

/** Returns true for a flat picture of one of the frames, ten a second. */
function wasSent(planar: Uint8Array, seconds: number): boolean {
  const luma = planar.subarray(0, thumbnail.width * thumbnail.height);
  const [least, most] = luma.reduce(
    ([low, high], value) => [Math.min(low, value), Math.max(high, value)],
    [255, 0],
  );
  const chroma = planar.subarray(luma.length).every((value) => Math.abs(value - 128) <= 3);
  const moment = ((least + most) / 2 - 30) / 12;
  return most - least <= 4 && chroma && moment > -0.3 && moment < seconds + 0.3;
}

const { segments } = await record({ keyFrameSeconds: 1, size: '640x360', seconds: 8 });
const stream = Buffer.concat(segments);
const tables = createTableReader();
for (let at = 0; at < 20 * packetBytes; at += packetBytes) tables.read(stream.subarray(at, at + packetBytes));
const videoPid = tables.video()?.pid;

/** Leaves out packets of video. */
function thin(bytes: Buffer, rate: number): Buffer {
  const packets = Array.from({ length: bytes.length / packetBytes }, (_, index) =>
    bytes.subarray(index * packetBytes, (index + 1) * packetBytes),
  );
  return Buffer.concat(packets.filter((packet) => readPid(packet) !== videoPid || Math.random() >= rate));
}

async function captureTs(rate: number): Promise<Uint8Array> {
  const chunks = Readable.from([thin(stream, rate)]);
  const opened = { content: 'mpeg-ts', headers: {}, chunks, close: () => undefined } as const;
  const deps = { ffmpeg, now: () => new Date(), elapsedMs: () => performance.now() };
  return (await captureTsStream(opened, request, deps, never)).thumbnail;
}

const recording = await recordRtp({ codec: 'h264', size: '640x360' });
const rtsp = createRtspCapturer({
  guard: createEgressGuard({ allowRanges: ['127.0.0.1/32'] }),
  ffmpeg,
  now: () => new Date(),
});

async function captureRtp(rate: number): Promise<Uint8Array> {
  const closesAfter = recording.packets.length - 1;
  const camera = await startCamera(recording, {
    packet: ({ bytes }) => (Math.random() < rate ? null : bytes),
    closesAfter,
  });
  try {
    return (await rtsp.capture({ ...request, url: camera.url }, never)).thumbnail;
  } finally {
    await camera.close();
  }
}

for (const [kind, capture, seconds] of [
  ['MPEG-TS', captureTs, 8],
  ['RTSP', captureRtp, 3],
] as const)
  for (const rate of rates) {
    let [shown, failed, invented] = [0, 0, 0];
    for (let index = 0; index < captures; index += 1) {
      try {
        if (wasSent(await capture(rate), seconds)) shown += 1;
        else invented += 1;
      } catch (error) {
        if (!(error instanceof StreamError)) throw error;
        failed += 1;
      }
    }
    console.log(`${kind}, loss ${rate * 100} %: ${shown} shown, ${failed} failed, ${invented} invented`);
  }
