import { afterEach, describe, expect, test } from 'vitest';
import type { FfmpegRunner } from '../../../../adapters/media/ffmpeg/run-ffmpeg.ts';
import type { CaptureRequest } from '../../../../core/records/capture.ts';
import {
  openUnhurriedRunner,
  readMoment,
  record,
  type RecordingOptions,
} from '../../../support/hls/recording.ts';
import { mediaPlaylist, watchFiles, type WatchedStream } from '../../../support/hls/watched-stream.ts';

const runner = openUnhurriedRunner();
let stream: WatchedStream;
afterEach(() => stream.close());

type Options = RecordingOptions & {
  ffmpeg?: FfmpegRunner;
  mode?: CaptureRequest['mode'];
  /** PROGRAM-DATE-TIME of the first segment by the number of a listing; null without. */
  clock?: (listing: number) => Date | null;
  change?: (segments: Buffer[]) => void;
};

const startsAt = new Date('2026-11-20T11:59:40Z');

/** Serves segments of 5 s with one key frame each. Returns a function that lists those up to a number, and captures. */
async function watchSparse({
  ffmpeg = runner,
  mode = 'frames',
  clock = () => startsAt,
  change,
  ...options
}: Options = {}) {
  const made = await record({ keyFrameSeconds: 5, segmentSeconds: 5, seconds: 17, ...options });
  const segments = made.segments.map((bytes) => Buffer.from(bytes));
  change?.(segments);
  const suffix = made.initialization === null ? 'ts' : 'm4s';
  const files = Object.fromEntries(segments.map((bytes, index) => [`/${index}.${suffix}`, bytes]));
  stream = await watchFiles({ ...files, '/init.mp4': made.initialization ?? '' }, { ffmpeg });
  let listing = 0;
  return async (newest: number, since: string | null) => {
    const first = clock(listing);
    listing += 1;
    const lines = Array.from({ length: newest + 1 }, (_, index) => [
      ...(made.initialization && index === 0 ? ['#EXT-X-MAP:URI="init.mp4"'] : []),
      ...(first
        ? [`#EXT-X-PROGRAM-DATE-TIME:${new Date(first.getTime() + index * 5000).toISOString()}`]
        : []),
      `${index}.${suffix}`,
    ]).flat();
    stream.files['/live.m3u8'] = mediaPlaylist(lines, 0, 5);
    const { scan, ...capture } = await stream.capture('/live.m3u8', {
      lookBack: { since },
      caller: 'ada',
      mode,
    });
    const moments = scan!.frames.map(({ thumbnail }) => readMoment(thumbnail));
    const ages = scan!.frames.map(({ at }) => (capture.capturedAt.getTime() - at.getTime()) / 1000);
    return {
      ...capture,
      scan: scan!,
      moments,
      ages,
      moment: readMoment(capture.thumbnail),
      next: capture.position.scan!,
    };
  };
}

describe('frames between key frames that are 5 s apart', () => {
  test.each([
    ['MPEG-TS with B-frames and sound', { sound: true }],
    ['MPEG-TS with open groups', { groups: 'open' }],
    ['fMP4 of H.265 with sound', { segmentType: 'fmp4', codec: 'h265', sound: true }],
    ['MPEG-TS without a date-time', { clock: () => null }],
  ] as const)(
    'frames of %s are scanned once, at their times, up to the newest one',
    async (_, options: Options) => {
      const look = await watchSparse(options);
      const first = await look(0, null);
      const second = await look(1, first.next);
      expect(second.moment).toBeGreaterThan(9.6);
      expect(second.moments.map(Math.round)).toEqual([5, 6, 7, 8, 9]);
      const third = await look(2, second.next);
      expect(third.moment).toBeGreaterThan(14.6);
      expect(third.moments.map(Math.round)).toEqual([10, 11, 12, 13, 14]);
      for (const [index, moment] of third.moments.entries())
        expect(third.moment - moment).toBeCloseTo(third.ages[index]!, 0);
      expect(third.scan.distanceSeconds).toBeLessThanOrEqual(1.25);
      expect(third.scan.leftOutSeconds).toBe(0);
      expect(third.scan.coveredSeconds).toBeGreaterThan(4.5);
      expect((await third.scan.picture(2, AbortSignal.timeout(10_000)))?.subarray(0, 2)).toEqual(
        Uint8Array.of(0xff, 0xd8),
      );
      // Nothing is new.
      expect((await look(2, third.next)).scan.frames).toEqual([]);
    },
  );

  test('a clip keeps its end, and the frames before it are scanned', async () => {
    const look = await watchSparse({ mode: 'clip' });
    const first = await look(0, null);
    const second = await look(1, first.next);
    expect(second.clip?.length).toBeGreaterThan(0);
    expect(second.moment).toBeGreaterThan(9.6);
    expect(second.moments.map(Math.round)).toEqual([5, 6, 7, 8, 9]);
    expect(second.scan.distanceSeconds).toBeLessThanOrEqual(1.25);
  });

  test('a host without time scans key frames only, and the distance says so, also of the part that it misses later', async () => {
    let hasTime = false;
    const runEachSecond: FfmpegRunner['runEachSecond'] = async (...call) =>
      hasTime ? (runner.runEachSecond?.(...call) ?? null) : null;
    const look = await watchSparse({ ffmpeg: { ...runner, runEachSecond } });
    const first = await look(0, null);
    const second = await look(1, first.next);
    expect(Math.round(second.moment)).toBe(5);
    expect(second.moments).toEqual([]);
    expect(second.scan.distanceSeconds).toBe(5);
    hasTime = true;
    const third = await look(2, second.next);
    expect(third.moments.map(Math.round)).toEqual([10, 11, 12, 13, 14]);
    expect(third.scan.distanceSeconds).toBe(5);
  });

  test('a damaged frame ends its segment, and the next segment is scanned', async () => {
    const look = await watchSparse({
      change: (segments) => {
        const damaged = segments[1]!;
        // The slices of predicted frames begin so: of those that others refer to, and of B-frames.
        for (let at = Math.floor(damaged.length * 0.7); at < damaged.length * 0.85; at += 1)
          if (damaged.readUIntBE(at, 3) === 1 && damaged[at + 3]! % 32 === 1)
            damaged.fill(0xff, at + 4, at + 9);
      },
    });
    const first = await look(0, null);
    const second = await look(2, first.next);
    const middle = second.moments.filter((moment) => moment > 4.9 && moment < 9.9);
    expect(middle.length).toBeGreaterThanOrEqual(1);
    expect(middle.length).toBeLessThan(5);
    expect(second.moments.filter((moment) => moment > 9.9).map(Math.round)).toEqual([10, 11, 12, 13, 14]);
    expect(second.scan.distanceSeconds).toBeGreaterThan(1.5);
    const sorted = second.moments.toSorted((one, other) => one - other);
    expect(second.moments).toEqual(sorted);
  });

  test.each([3_600_000, -3_600_000])(
    'a clock of the stream that jumps by %i ms repeats no frame',
    async (byMs) => {
      const look = await watchSparse({
        clock: (listing) => new Date(startsAt.getTime() + (listing === 0 ? 0 : byMs)),
      });
      const first = await look(1, null);
      const second = await look(2, first.next);
      expect(second.moments.map(Math.round)).toEqual([10, 11, 12, 13, 14]);
      for (const [index, moment] of second.moments.entries())
        expect(second.moment - moment).toBeCloseTo(second.ages[index]!, 0);
    },
  );
});
