import type { Socket } from 'node:net';
import { expect, test } from 'vitest';
import { createEgressGuard } from '../../adapters/egress/guard.ts';
import { poolDecoders } from '../../adapters/media/ffmpeg/decoder-pool.ts';
import { createFfmpegRunner } from '../../adapters/media/ffmpeg/run-ffmpeg.ts';
import { createRtspCapturer } from '../../adapters/media/rtsp/capture-rtsp.ts';
import { createRtspSessions } from '../../adapters/media/rtsp/session/rtsp-sessions.ts';
import { setSystemTimer } from '../../core/time-limit.ts';
import { ffmpegPath } from '../support/hls/recording.ts';
import { writeRtp } from '../support/rtsp/rtp-packets.ts';
import { liveSdp, startScriptedServer } from '../support/rtsp/scripted-server.ts';
import { hostileAddress } from './canaries.ts';
import { count } from './counted.ts';
import { flood } from './flood.ts';
import { measurePeak } from './memory.ts';
import { folderOfFile } from '../support/temporary-folder.ts';

const tempDir = folderOfFile();

const description = liveSdp.replace(
  'packetization-mode=1',
  'packetization-mode=1;sprop-parameter-sets=Z0LACg==,aMuD',
);

/** Returns packets of consecutive sequence numbers, which a flood repeats. */
function packets(count: number, write: (index: number) => { timestamp: number; payload: Buffer }): Buffer {
  return Buffer.concat(
    Array.from({ length: count }, (_, sequence) => writeRtp({ sequence, ...write(sequence) })),
  );
}

const unit = (first: number, bytes: number): Buffer => {
  const payload = Buffer.alloc(bytes, 0x9a);
  payload[0] = first;
  return payload;
};
const idr = (index: number): number => (index % 65_536 === 0 ? 0x65 : 0x41);

/** 65,536 packets are a whole round of sequence numbers, so that no packet seems lost. */
const floods: [string, () => Buffer][] = [
  ['noise', () => Buffer.concat([Buffer.from([0x24, 0, 0xea, 0x60]), Buffer.alloc(60_000)])],
  [
    'access units but no key frame',
    () => packets(65_536, (index) => ({ timestamp: index, payload: unit(0x41, 9) })),
  ],
  [
    'one GOP of tiny access units',
    () => packets(65_536, (index) => ({ timestamp: index, payload: unit(idr(index), 9) })),
  ],
  ['key frames', () => packets(4096, (index) => ({ timestamp: index, payload: unit(0x65, 3000) }))],
  [
    'one access unit without an end',
    () => packets(1024, (index) => ({ timestamp: 1, payload: unit(index === 0 ? 0x65 : 0x41, 60_000) })),
  ],
  [
    'one fragmented unit without an end',
    () =>
      packets(1024, (index) => {
        const payload = unit(0x7c, 60_000);
        payload[1] = index === 0 ? 0x85 : 0x05;
        return { timestamp: 1, payload };
      }),
  ],
  [
    'aggregates with wrong lengths',
    () =>
      packets(4096, (index) => ({ timestamp: index, payload: Buffer.from([0x78, 0xff, 0xff, 0x65, 0x88]) })),
  ],
  [
    'parameter sets without end',
    () => packets(4096, (index) => ({ timestamp: index >> 9, payload: unit(0x67, 1400) })),
  ],
];

test.for(floods)(
  'an RTSP server that plays %s into a session fails as a stream, in bounded memory',
  async ([, write], test) => {
    const piece = write();
    const sockets: Socket[] = [];
    const server = await startScriptedServer(
      ({ method }, _, socket) => {
        if (method === 'DESCRIBE') return { status: 200, body: description };
        if (method === 'PLAY') {
          sockets.push(socket);
          // The connection of a fall-back is a subject of rtsp-limits.
          setTimeout(() => (sockets.length > 1 ? socket.end() : flood(socket, piece)), 20);
        }
        return { status: 200, headers: { Session: 'a', Transport: 'RTP/AVP/TCP;interleaved=0-1' } };
      },
      undefined,
      hostileAddress,
    );
    const guard = createEgressGuard({ allowRanges: [hostileAddress] });
    const runner = createFfmpegRunner({ ffmpegPath, tempDir });
    const sessions = createRtspSessions({
      guard,
      elapsedMs: () => performance.now(),
      setTimer: setSystemTimer,
      maxKept: 10,
      answerTimeoutMs: 500,
    });
    const capturer = createRtspCapturer({
      guard,
      ffmpeg: poolDecoders({ ffmpegPath, ffmpeg: runner, maxProcesses: 1 }),
      now: () => new Date(),
      answerTimeoutMs: 500,
      sessions,
    });
    const url = server.url.replace('rtsp://', 'rtsp://user:secret@');
    const peak = await measurePeak(async () => {
      const capture = { url, mode: 'frames', clipSeconds: 3, caller: 'ada', resolveAgain: false } as const;
      await expect(capturer.capture(capture, AbortSignal.timeout(50_000))).rejects.toMatchObject({
        code: 'STREAM_FETCH_FAILED',
        remediation: expect.not.stringContaining('secret'),
      });
      // Nothing of the session stays behind the failure.
      await expect.poll(() => sockets.every((socket) => socket.destroyed), { timeout: 5_000 }).toBe(true);
    });
    expect(peak.own).toBeLessThan(150);
    expect(peak.child).toBeLessThan(300);
    await sessions.close();
    await server.close();
    count(test, { limits: 1 });
  },
);
