import { describe, expect, test, vi } from 'vitest';
import type { FfmpegRunner } from '../../../../../adapters/media/ffmpeg/run-ffmpeg.ts';
import { formatPosition } from '../../../../../adapters/media/scan/measure-scan.ts';
import { scanGroups } from '../../../../../adapters/media/rtsp/scan/scan-session.ts';
import type { Capture } from '../../../../../core/records/capture.ts';
import { openUnhurriedRunner, readMoment } from '../../../../support/hls/recording.ts';
import { mostDifferent } from '../../../../support/most-different.ts';
import { openPlayedSession } from '../../../../support/rtsp/played-session.ts';
import { readPicture } from '../../../../support/read-picture.ts';

const runner = openUnhurriedRunner();
const sparse = { keyFrameEvery: 50, seconds: 17 };

/** Returns seconds before the capture, and what the frames show then by the time of the capture. */
function ages({ scan, capturedAt, thumbnail: newest }: Capture) {
  return scan!.frames.map(({ at, thumbnail }) => ({
    age: (capturedAt.getTime() - at.getTime()) / 1000,
    shown: readMoment(newest) - readMoment(thumbnail),
  }));
}

const moments = ({ scan }: Pick<Capture, 'scan'>) => scan!.frames.map((frame) => readMoment(frame.thumbnail));

describe('frames between key frames that are 5 s apart', () => {
  test.each(
    mostDifferent([
      ['H.265 with B-frames and open groups', { codec: 'h265', groups: 'B-frames' }],
      ['H.264', { codec: 'h264' }],
      ['H.264 with B-frames', { codec: 'h264', groups: 'B-frames' }],
      ['H.264 with open groups', { codec: 'h264', groups: 'open' }],
      ['H.265', { codec: 'h265' }],
    ]),
  )('frames of %s are scanned once, one of each second, at their times', async (_, options) => {
    const camera = await openPlayedSession(runner, { ...sparse, ...options });
    const seen: number[] = [];
    let since: string | null = null;
    for (const seconds of [3.8, 9.4, 11, 16.3]) {
      camera.playTo(seconds);
      const capture = await camera.lookBack(since);
      for (const { age, shown } of ages(capture)) expect(Math.abs(age - shown)).toBeLessThan(0.25);
      if (since !== null) expect(capture.scan!.distanceSeconds).toBeLessThanOrEqual(1.25);
      expect(capture.scan!.leftOutSeconds).toBe(0);
      since = capture.position.scan ?? null;
      seen.push(...moments(capture), readMoment(capture.thumbnail));
      const picture = capture.scan!.frames.length > 0 && (await readPicture(capture.scan!, 0));
      if (picture) expect(picture.subarray(0, 2)).toEqual(Uint8Array.of(0xff, 0xd8));
    }
    expect(seen).toEqual(seen.toSorted((one, other) => one - other));
    const steps = seen.slice(1).map((moment, index) => moment - seen[index]!);
    expect(Math.min(...steps)).toBeGreaterThan(0.02);
    expect(Math.max(...steps)).toBeLessThan(1.4);
  });

  test('a damaged frame ends its group, and the next group is scanned', async () => {
    const change = (packet: Buffer, frame: number) => {
      if (frame === 72) packet.fill(0xff, 14);
      return packet;
    };
    const camera = await openPlayedSession(runner, { ...sparse, change });
    camera.playTo(3.8);
    const first = await camera.lookBack(null);
    camera.playTo(13.5);
    const second = await camera.lookBack(first.position.scan!);
    for (const { age, shown } of ages(second)) expect(Math.abs(age - shown)).toBeLessThan(0.25);
    expect(moments(second).filter((moment) => moment > 7.15 && moment < 9.9)).toEqual([]);
    expect(second.scan!.distanceSeconds).toBeGreaterThan(2.5);
    expect(moments(second).filter((moment) => moment > 10.15)).toHaveLength(3);
  });

  test('a lost frame leaves out the rest of its group', async () => {
    const camera = await openPlayedSession(runner, {
      ...sparse,
      change: (packet, frame) => (frame === 72 ? null : packet),
    });
    camera.playTo(3.8);
    const first = await camera.lookBack(null);
    camera.playTo(13.5);
    const second = await camera.lookBack(first.position.scan!);
    expect(moments(second).filter((moment) => moment > 7.15 && moment < 9.9)).toEqual([]);
    expect(second.scan!.distanceSeconds).toBeGreaterThan(2.5);
  });

  test('a host without time scans key frames only, and the distance says so', async () => {
    const camera = await openPlayedSession({ ...runner, runEachSecond: async () => null }, sparse);
    camera.playTo(3.8);
    const first = await camera.lookBack(null);
    camera.playTo(13.5);
    const second = await camera.lookBack(first.position.scan!);
    expect(moments(second).map(Math.round)).toEqual([5, 10]);
    expect(second.scan).toMatchObject({ distanceSeconds: 5, leftOutSeconds: 0 });
    expect(readMoment(second.thumbnail)).toBeCloseTo(13.4, 0);
    camera.playTo(16);
    expect((await camera.lookBack(second.position.scan!)).scan!.distanceSeconds).toBe(5);
  });

  test('groups that exceed the memory of scans are not kept, and key frames are', async () => {
    const camera = await openPlayedSession(runner, { ...sparse, maxBytes: 12_000 });
    camera.playTo(3.8);
    const first = await camera.lookBack(null);
    camera.playTo(14.5);
    const second = await camera.lookBack(first.position.scan!);
    expect(
      moments(second)
        .filter((moment) => moment < 9.9)
        .map(Math.round),
    ).toEqual([5]);
    expect(moments(second).some((moment) => Math.round(moment) === 10)).toBe(true);
  });

  test('a position of another session leaves out the frames up to its time', async () => {
    const camera = await openPlayedSession(runner, sparse);
    camera.playTo(3.8);
    const first = await camera.lookBack(null);
    camera.playTo(13.5);
    const atMs = first.capturedAt.getTime() + 4_000;
    const { scan } = await camera.lookBack(formatPosition({ rendition: 'other', segment: '1', atMs }));
    expect(scan!.frames.length).toBeGreaterThanOrEqual(4);
    expect(Math.min(...scan!.frames.map(({ at }) => at.getTime()))).toBeGreaterThan(atMs);
  });

  test.each([3_600_000, -3_600_000])(
    'a clock of the service that jumps by %i ms repeats no frame',
    async (byMs) => {
      const camera = await openPlayedSession(runner, sparse);
      camera.playTo(3.8);
      const first = await camera.lookBack(null);
      camera.setClock(byMs);
      camera.playTo(9.5);
      const second = await camera.lookBack(first.position.scan!);
      expect(Math.min(...moments(second))).toBeGreaterThan(readMoment(first.thumbnail));
      expect(moments(second).length).toBeGreaterThanOrEqual(5);
      for (const { age, shown } of ages(second)) expect(Math.abs(age - shown)).toBeLessThan(0.25);
    },
  );

  test.each(
    mostDifferent([
      ['back by 4 s', -4],
      ['forward by a day', 86_400],
      ['forward by 4 s', 4],
      ['back by a day', -86_400],
    ]),
  )('a camera that sets its clock %s within a group invents no frame and repeats none', async (_, jump) => {
    const change = (packet: Buffer, frame: number) => {
      if (frame >= 72) packet.writeUInt32BE((packet.readUInt32BE(4) + jump * 90_000) >>> 0, 4);
      return packet;
    };
    const camera = await openPlayedSession(runner, { ...sparse, change });
    const seen: number[] = [];
    let since: string | null = null;
    for (const seconds of [3.8, 10.4, 16.4]) {
      camera.playTo(seconds);
      const capture = await camera.lookBack(since);
      since = capture.position.scan ?? null;
      const times = [...capture.scan!.frames.map(({ at }) => at.getTime()), capture.capturedAt.getTime()];
      expect(times).toEqual(times.toSorted((one, other) => one - other));
      seen.push(...moments(capture));
    }
    const rounded = seen.map((moment) => Math.round(moment * 10));
    expect(new Set(rounded).size).toBe(rounded.length);
  });
});

/** Group of a frame each tick, `number` seconds after a fixed time. */
const group = (number: number, frames: number) => ({
  number,
  atMs: number * 1000,
  seenTicks: 0,
  units: Array.from({ length: frames }, (_, index) => ({
    bytes: new Uint8Array(10),
    isKeyFrame: index === 0,
    timestamp: index,
    arrivedMs: index,
  })),
});
const track = { codec: 'H264', clockRate: 90_000 } as const;

test('a group of 10,000 frames is not decoded, and no older one', async () => {
  let decoded = 0;
  const runEachSecond: FfmpegRunner['runEachSecond'] = async () => {
    decoded += 1;
    return [];
  };
  const groups = [group(1, 10), group(2, 10_000), group(3, 10)];
  const ffmpeg = { ...runner, runEachSecond };
  expect(await scanGroups(groups, track, 20_000, ffmpeg, AbortSignal.timeout(5_000))).toEqual([]);
  expect(decoded).toBe(1);
});

test('groups are decoded for at most 5 s, the newest first', async () => {
  let nowMs = 0;
  const clock = vi.spyOn(performance, 'now').mockImplementation(() => nowMs);
  const decoded: number[] = [];
  const limits: number[] = [];
  const runEachSecond: FfmpegRunner['runEachSecond'] = async (_, { fromSeconds }, { timeoutMs }) => {
    decoded.push(Math.round(fromSeconds - 3580));
    limits.push(timeoutMs);
    nowMs += 2_600;
    return [];
  };
  const groups = [group(1, 10), group(7, 10), group(13, 10)];
  const ffmpeg = { ...runner, runEachSecond };
  await scanGroups(groups, track, 20_000, ffmpeg, AbortSignal.timeout(5_000));
  clock.mockReturnValue(0);
  expect(decoded).toEqual([13, 7]);
  expect(limits).toEqual([5_000, 2_400]);
});

test('frames that are shown before the key frame of their group are not decoded with it', async () => {
  const streams: Buffer[] = [];
  const runEachSecond: FfmpegRunner['runEachSecond'] = async ({ chunks }) => {
    for await (const chunk of chunks) streams.push(Buffer.from(chunk));
    return [];
  };
  const whole = group(1, 10);
  const leading = { bytes: new Uint8Array(10), isKeyFrame: false, timestamp: -2, arrivedMs: 1 };
  const [keyFrame, ...rest] = whole.units;
  const open = { ...whole, units: [keyFrame!, leading, ...rest] };
  for (const each of [whole, open])
    await scanGroups([each], track, 20_000, { ...runner, runEachSecond }, AbortSignal.timeout(5_000));
  expect(streams[1]).toEqual(streams[0]);
});

test.each(mostDifferent([1, 4, 2]))(
  'key frames of open groups that are %i s apart are scanned at their times',
  async (seconds) => {
    const camera = await openPlayedSession(runner, {
      keyFrameEvery: seconds * 10,
      seconds: 17,
      groups: 'open',
    });
    camera.playTo(4.3);
    const first = await camera.lookBack(null);
    camera.playTo(16.3);
    const second = await camera.lookBack(first.position.scan!);
    for (const { age, shown } of ages(second)) expect(Math.abs(age - shown)).toBeLessThan(0.25);
    const after = readMoment(first.thumbnail);
    const expected = Array.from({ length: 17 }, (_, at) => at).filter(
      (at) => at % seconds === 0 && at > after + 0.5 && at < readMoment(second.thumbnail) - 0.5,
    );
    expect(moments(second).map(Math.round)).toEqual(expected);
    expect(second.scan!.leftOutSeconds).toBe(0);
  },
);
