import type { Socket } from 'node:net';
import { expect, test } from 'vitest';
import { createEgressGuard } from '../../adapters/egress/guard.ts';
import { createFfmpegRunner } from '../../adapters/media/ffmpeg/run-ffmpeg.ts';
import { createRtspCapturer } from '../../adapters/media/rtsp/capture-rtsp.ts';
import { ffmpegPath } from '../support/hls/recording.ts';
import { liveSdp, startScriptedServer, type ScriptedAnswer } from '../support/rtsp/scripted-server.ts';
import { hostileAddress } from './canaries.ts';
import { count } from './counted.ts';
import { flood } from './flood.ts';
import { measurePeak } from './memory.ts';
import { folderOfFile } from '../support/temporary-folder.ts';

const tempDir = folderOfFile();

const ok: Record<string, ScriptedAnswer> = {
  DESCRIBE: { status: 200, body: liveSdp },
  SETUP: { status: 200, headers: { Session: 'a', Transport: 'RTP/AVP/TCP;unicast;interleaved=0-1' } },
};

const frame = (bytes: number, channel = 0): Buffer =>
  Buffer.concat([Buffer.from([0x24, channel, bytes >> 8, bytes & 255, 0x80, 96]), Buffer.alloc(bytes - 2)]);
const tracks = Array.from(
  { length: 10_000 },
  (_, at) => `m=audio 0 RTP/AVP ${at % 128}\r\na=control:${at}\r\n`,
);
const request = (at: number): string => `OPTIONS * RTSP/1.0\r\nCSeq: ${at}\r\n\r\n`;

type Misbehaviour = (method: string, socket: Socket) => ScriptedAnswer | undefined;

/** Floods instead of an answer, to each request or to one method. */
const floods =
  (bytes: Buffer | string, to?: string): Misbehaviour =>
  (method, socket) =>
    to === undefined || method === to ? (flood(socket, bytes), null) : undefined;
/** Answers PLAY, and then does something. */
const plays =
  (delayMs: number, then: (socket: Socket) => void): Misbehaviour =>
  (method, socket) =>
    method === 'PLAY' ? (setTimeout(() => then(socket), delayMs), { status: 200 }) : undefined;
const endless = 'RTSP/1.0 200 OK\r\nCSeq: 2\r\nContent-Length: 10000000000\r\n\r\n';

const misbehaviours: [string, Misbehaviour][] = [
  ['never answers', () => null],
  ['answers OPTIONS and then no more', (method) => (method === 'OPTIONS' ? { status: 200 } : null)],
  ['sends headers without end', floods('X: y\r\n'.repeat(1000))],
  ['sends a header line without end', floods('x'.repeat(65_536))],
  ['announces a description of ten gigabytes', floods(endless, 'DESCRIBE')],
  [
    'describes ten thousand tracks',
    (method) => (method === 'DESCRIBE' ? { status: 200, body: tracks.join('') } : undefined),
  ],
  ['floods frames instead of an answer', floods(frame(60_000))],
  ['floods tiny frames instead of an answer', floods(Buffer.concat(Array(5000).fill(frame(12))))],
  ['floods empty lines', floods('\r\n'.repeat(10_000))],
  ['says «continue» without end', floods('RTSP/1.0 100 Continue\r\n\r\n'.repeat(1000))],
  ['responds without a request', floods('RTSP/1.0 200 OK\r\nCSeq: 77\r\n\r\n'.repeat(1000))],
  ['floods requests', floods(Array.from({ length: 1000 }, (_, at) => request(at)).join(''))],
  [
    'requests credentials with a new challenge each time',
    () => ({
      status: 401,
      headers: { 'WWW-Authenticate': `Digest realm="a", nonce="${Math.random()}", stale=true` },
    }),
  ],
  ['plays noise without end', plays(20, (socket) => flood(socket, frame(60_000)))],
  ['plays and then is silent', plays(1500, (socket) => void socket.destroy())],
];

test.for(misbehaviours)(
  'an RTSP server that %s fails as a stream, in bounded memory',
  async ([, misbehave], test) => {
    const guard = createEgressGuard({ allowRanges: [hostileAddress] });
    const ffmpeg = createFfmpegRunner({ ffmpegPath, tempDir });
    const capturer = createRtspCapturer({ guard, ffmpeg, now: () => new Date(), answerTimeoutMs: 500 });
    const server = await startScriptedServer(
      ({ method }, _, socket) => {
        const answer = misbehave(method, socket);
        return answer === undefined ? (ok[method] ?? { status: 200 }) : answer;
      },
      undefined,
      hostileAddress,
    );
    const url = server.url.replace('rtsp://', 'rtsp://user:secret@');
    const peak = await measurePeak(async () => {
      const capture = { url, mode: 'frames', clipSeconds: 3, caller: 'ada', resolveAgain: false } as const;
      await expect(capturer.capture(capture, AbortSignal.timeout(25_000))).rejects.toMatchObject({
        code: 'STREAM_FETCH_FAILED',
        remediation: expect.not.stringContaining('secret'),
      });
    });
    // Garbage of earlier files of this process counts too.
    expect(peak.own).toBeLessThan(250);
    expect(peak.child).toBeLessThan(300);
    await server.close();
    count(test, { limits: 1 });
  },
);
