import { afterEach, describe, expect, test } from 'vitest';
import type { FfmpegRunner } from '../../../../../adapters/media/ffmpeg/run-ffmpeg.ts';
import type { ReadSegment } from '../../../../../adapters/media/hls/scan/read-segment.ts';
import { decodeBetween } from '../../../../../adapters/media/hls/scan/scan-decode.ts';
import type { ScanBudget } from '../../../../../adapters/media/hls/scan/scan-budget.ts';
import type { CaptureRequest } from '../../../../../core/records/capture.ts';
import {
  openUnhurriedRunner,
  readMoment,
  record,
  type RecordingOptions,
} from '../../../../support/hls/recording.ts';
import { mostDifferent } from '../../../../support/most-different.ts';
import { findSystemFfmpeg } from '../../../../support/runner/layer-ffmpeg.ts';
import { mediaPlaylist, watchFiles, type WatchedStream } from '../../../../support/hls/watched-stream.ts';
import { readPicture } from '../../../../support/read-picture.ts';

const runner = openUnhurriedRunner();
const systemFfmpeg = await findSystemFfmpeg();
const systemRunner = openUnhurriedRunner(systemFfmpeg ?? undefined);
let stream: WatchedStream;
afterEach(() => stream?.close());

type Options = RecordingOptions & {
  ffmpeg?: FfmpegRunner;
  mode?: CaptureRequest['mode'];
  /** PROGRAM-DATE-TIME of the first segment by the number of a listing; null without. */
  clock?: (listing: number) => Date | null;
  change?: (segments: Buffer[]) => void;
  /** Tags before a segment. */
  tags?: Record<number, string>;
};

const startsAt = new Date('2026-11-20T11:59:40Z');

/**
 * Serves segments with a key frame every 5 s, by default at the start of each. Returns a function that lists those up
 * to a number, and captures.
 */
async function watchSparse({
  ffmpeg = runner,
  mode = 'frames',
  clock = () => startsAt,
  change,
  tags = {},
  segmentSeconds = 5,
  ...options
}: Options = {}) {
  const made = await record({ keyFrameSeconds: 5, segmentSeconds, seconds: 17, ...options });
  const segments = made.segments.map((bytes) => Buffer.from(bytes));
  change?.(segments);
  const suffix = made.initialization === null ? 'ts' : 'm4s';
  const files = Object.fromEntries(segments.map((bytes, index) => [`/${index}.${suffix}`, bytes]));
  stream = await watchFiles({ ...files, '/init.mp4': made.initialization ?? '' }, { ffmpeg });
  let listing = 0;
  return async (newest: number, since: string | null, oldest = 0) => {
    const first = clock(listing);
    listing += 1;
    const lines = Array.from({ length: newest + 1 - oldest }, (_, at) => at + oldest).flatMap((index) => [
      ...(made.initialization && index === oldest ? ['#EXT-X-MAP:URI="init.mp4"'] : []),
      ...(first
        ? [
            `#EXT-X-PROGRAM-DATE-TIME:${new Date(first.getTime() + index * segmentSeconds * 1000).toISOString()}`,
          ]
        : []),
      ...(tags[index] ? [tags[index]] : []),
      `${index}.${suffix}`,
    ]);
    stream.files['/live.m3u8'] = mediaPlaylist(lines, oldest, segmentSeconds);
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

/** Requires moments in order, one of each second between two times. */
function expectEachSecond(moments: readonly number[], from: number, to: number): void {
  const steps = moments.slice(1).map((moment, index) => moment - moments[index]!);
  expect(Math.min(...steps)).toBeGreaterThanOrEqual(0);
  expect(Math.max(...steps)).toBeLessThan(1.45);
  expect(moments[0]).toBeGreaterThan(from - 0.15);
  expect(moments[0]).toBeLessThan(from + 1.1);
  expect(moments.at(-1)).toBeGreaterThan(to - 1);
}

describe('frames between key frames that are 5 s apart', () => {
  test.each(
    mostDifferent([
      ['fMP4 of H.265 with sound', { segmentType: 'fmp4', codec: 'h265', sound: true }],
      ['MPEG-TS without a date-time', { clock: () => null }],
      ['MPEG-TS with B-frames and sound', { sound: true }],
      ['MPEG-TS with open groups', { groups: 'open' }],
    ]),
  )('frames of %s are scanned once, at their times, up to the newest one', async (_, options: Options) => {
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
    expect((await readPicture(third.scan, 2))?.subarray(0, 2)).toEqual(Uint8Array.of(0xff, 0xd8));
    // Nothing is new.
    expect((await look(2, third.next)).scan.frames).toEqual([]);
  });

  test.each(
    mostDifferent([
      ['MPEG-TS', {}],
      ['fMP4 of H.265', { segmentType: 'fmp4', codec: 'h265' }],
      ['fMP4', { segmentType: 'fmp4' }],
    ]),
  )(
    'segments of %s without a key frame are scanned from the one before in which their group begins',
    async (_, options: Options) => {
      const look = await watchSparse({ segmentSeconds: 2, ...options });
      const first = await look(2, null);
      const { moments, moment } = await look(7, first.next);
      expectEachSecond([...moments, moment], 6, 15.6);
    },
  );

  test.for(
    mostDifferent([
      ['fMP4 of H.265', { segmentType: 'fmp4', codec: 'h265' }],
      // Version 5 decodes what refers to frames before the first key frame.
      ['MPEG-TS of H.265, by the ffmpeg of the system,', { codec: 'h265', ffmpeg: systemRunner }],
      ['MPEG-TS', {}],
      ['MPEG-TS of H.265', { codec: 'h265' }],
    ]),
  )(
    'segments of %s whose group has begun before the playlist are scanned from their first key frame on',
    async ([, options]: readonly [string, Options], { skip }) => {
      skip(
        options.ffmpeg === systemRunner && systemFfmpeg === null,
        'There is no ffmpeg on the PATH but that of the layer.',
      );
      const look = await watchSparse({ segmentSeconds: 2, ...options });
      const first = await look(1, null);
      const { moments, moment, ages } = await look(7, first.next, 1);
      expectEachSecond([...moments, moment], 5, 15);
      for (const [index, age] of ages.entries())
        expect(Math.abs(moment - moments[index]! - age)).toBeLessThan(0.35);
    },
  );

  test.each([
    ['a discontinuity', { 3: '#EXT-X-DISCONTINUITY' }],
    ['a gap', { 2: '#EXT-X-GAP' }],
  ])('a group is not joined with its begin before %s', async (_, tags: Record<number, string>) => {
    const look = await watchSparse({ segmentSeconds: 2 });
    const first = await look(2, null);
    await stream.close();
    const { moments } = await (await watchSparse({ segmentSeconds: 2, tags }))(7, first.next);
    expect(moments[0]).toBeGreaterThan(9.8);
  });

  test('segments after a discontinuity within a scan are not joined with the begin of its first group', async () => {
    const decoded: Buffer[] = [];
    const runEachSecond: FfmpegRunner['runEachSecond'] = async (input, ...more) => {
      for await (const chunk of input.chunks) decoded.push(Buffer.from(chunk));
      return runner.runEachSecond?.(input, ...more) ?? null;
    };
    const look = await watchSparse({
      ffmpeg: { ...runner, runEachSecond },
      keyFrameSeconds: 10,
      segmentSeconds: 2,
      tags: { 4: '#EXT-X-DISCONTINUITY' },
    });
    const first = await look(0, null);
    const { moments } = await look(7, first.next);
    expect(moments[0]).toBeLessThan(3.1);
    const numbers = decoded.map((bytes) =>
      Object.keys(stream.files).find((path) => bytes.equals(stream.files[path] as Buffer)),
    );
    expect(numbers).toEqual(['/5.ts', '/6.ts', '/7.ts', '/0.ts', '/1.ts', '/2.ts', '/3.ts']);
  });

  test('a group that has begun more than 20 s before a scan is scanned from its next key frame on', async () => {
    const begin = startsAt.getTime() - 20_000;
    const look = await watchSparse({
      keyFrameSeconds: 25,
      segmentSeconds: 2,
      seconds: 28,
      clock: () => new Date(begin),
    });
    const { scan } = await look(13, `? ? ${begin + 22_500}`);
    expect(scan.frames[0]!.at.getTime()).toBeGreaterThan(begin + 24_800);
  });

  test('a scan of less time than between two key frames decodes the frames between them too', async () => {
    const look = await watchSparse({ segmentSeconds: 2 });
    let { next, moment, position } = await look(2, null);
    // Each is of one segment of 2 s, which has no key frame or one.
    for (const newest of [3, 4, 5, 6, 7]) {
      const scanned = await look(newest, next);
      // Else it would be repeated, and what it shows between key frames not judged.
      expect(scanned.position.segment).not.toBe(position.segment);
      expectEachSecond([...scanned.moments, scanned.moment], newest * 2, newest * 2 + 1.8);
      expect(scanned.moment).toBeGreaterThan(moment);
      expect(scanned.scan.distanceSeconds).toBeLessThanOrEqual(2.1);
      ({ next, moment, position } = scanned);
    }
  });

  test('frames of open groups of 5 s in segments of 2 s are scanned at their times, and what is left out is said', async () => {
    const look = await watchSparse({ groups: 'open', segmentSeconds: 2 });
    let { next, moment } = await look(1, null);
    for (const newest of [3, 5, 7]) {
      const scanned = await look(newest, next);
      const { moments, ages, scan } = scanned;
      for (const [index, shown] of moments.entries())
        expect(Math.abs(scanned.moment - shown - ages[index]!)).toBeLessThan(0.25);
      const shown = [moment, ...moments, scanned.moment];
      const steps = shown.slice(1).map((each, index) => each - shown[index]!);
      expect(Math.min(...steps)).toBeGreaterThan(0);
      expect(Math.max(...steps)).toBeLessThan(scan.distanceSeconds + 0.25);
      expect(scan.distanceSeconds).toBeLessThanOrEqual(newest === 3 ? 5 : 2.1);
      expect(scanned.moment).toBeGreaterThan(2 * newest + 0.6);
      ({ next, moment } = scanned);
    }
  });

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

  test('segments that follow a key frame bring no other picture without a scan', async () => {
    const look = await watchSparse({ segmentSeconds: 2 });
    const list = async (newest: number) => {
      await look(newest, null);
      return (await stream.capture('/live.m3u8')).position;
    };
    const [first, same, also, next] = [await list(2), await list(3), await list(4), await list(5)];
    expect([same.segment, also.segment]).toEqual([first.segment, first.segment]);
    expect(next.segment).not.toBe(first.segment);
    // It is stale by the time between key frames, not between segments.
    expect(also.segment_seconds).toBeCloseTo(5, 5);
  });

  test.each(
    mostDifferent([
      ['MPEG-TS', 1, {}],
      ['fMP4', 4, { segmentType: 'fmp4' }],
      ['MPEG-TS', 2, {}],
      ['MPEG-TS', 4, {}],
      ['fMP4', 2, { segmentType: 'fmp4' }],
    ]),
  )(
    'key frames of open groups in %s of %s s are scanned at their times',
    async (_, segmentSeconds, options: Options) => {
      const look = await watchSparse({
        ...options,
        segmentSeconds,
        keyFrameSeconds: segmentSeconds,
        groups: 'open',
      });
      const first = await look(0, null);
      const second = await look(Math.floor(16 / segmentSeconds) - 1, first.next);
      expect(second.moments.length).toBeGreaterThanOrEqual(Math.floor(16 / segmentSeconds) - 2);
      for (const [index, moment] of second.moments.entries())
        expect(second.moment - moment).toBeCloseTo(second.ages[index]!, 0);
      expect(second.scan.leftOutSeconds).toBe(0);
    },
  );

  test.each([
    ['a frame', {}],
    ['a scan', { lookBack: { since: null }, caller: 'ada' }],
    ['a clip', { mode: 'clip', clipSeconds: 1 }],
  ] as const)(
    'a stalled playlist has one position for %s, whether the process knows that it needs older segments or not',
    async (_, more: Partial<CaptureRequest>) => {
      await watchSparse({ keyFrameSeconds: 4, segmentSeconds: 2 });
      const fresh = stream;
      const known = await watchFiles({ ...fresh.files }, { ffmpeg: runner });
      stream = known;
      try {
        known.files['/live.m3u8'] = mediaPlaylist(['0.ts', '1.ts', '2.ts', '3.ts', '4.ts', '5.ts']);
        await known.capture('/live.m3u8', more);
        known.files['/live.m3u8'] = mediaPlaylist(Array.from({ length: 7 }, (_, at) => `${at}.ts`));
        fresh.files['/live.m3u8'] = known.files['/live.m3u8'];
        const [one, other] = [
          await known.capture('/live.m3u8', more),
          await fresh.capture('/live.m3u8', more),
        ];
        expect(other.position.segment).toBe(one.position.segment);
      } finally {
        await fresh.close();
      }
    },
  );

  test('a key frame that is older than what was scanned is said to be seen, and what it hides is scanned later', async () => {
    let hasTime = true;
    const runEachSecond: FfmpegRunner['runEachSecond'] = async (...call) =>
      hasTime ? (runner.runEachSecond?.(...call) ?? null) : null;
    const look = await watchSparse({ segmentSeconds: 2, ffmpeg: { ...runner, runEachSecond } });
    const first = await look(2, null);
    const second = await look(3, first.next);
    expect(second.scan.isSeen).toBeFalsy();
    hasTime = false;
    const third = await look(4, second.next);
    expect(Math.round(third.moment)).toBe(5);
    expect(third.scan).toMatchObject({ isSeen: true, frames: [] });
    expect(third.position.segment_seconds).toBeGreaterThan(4);
    hasTime = true;
    const fourth = await look(5, third.next);
    expect(fourth.scan.isSeen).toBeFalsy();
    expectEachSecond([...fourth.moments, fourth.moment], 8, 11.8);
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

describe('groups of segments', () => {
  const read = (sequence: number, seconds = [0]) => ({
    segment: {
      sequence: BigInt(sequence),
      url: `https://cdn.example/${sequence}.ts`,
      durationSeconds: 5,
    } as ReadSegment['segment'],
    seconds,
    initialization: null,
    bytes: Uint8Array.of(sequence),
    kind: 'whole' as const,
  });
  let leftMs = 6_000;
  const budget: ScanBudget = {
    reserve: () => ({ maxBytes: 0, release: () => undefined }),
    within: (work, signal) => work(signal),
    leftMs: () => leftMs,
  };
  const decode = (run: ReadSegment[], runEachSecond: NonNullable<FfmpegRunner['runEachSecond']>) =>
    decodeBetween({ ffmpeg: { ...runner, runEachSecond }, budget }, run, AbortSignal.timeout(5_000));

  test('the newest group is decoded first, and without time for each one key frames are all', async () => {
    const decoded: number[] = [];
    const note: FfmpegRunner['runEachSecond'] = async ({ chunks }, _, { timeoutMs }) => {
      for await (const [number = 0] of chunks) decoded.push(number);
      expect(timeoutMs).toBe(leftMs - 1_000);
      leftMs -= 2_500;
      return [];
    };
    expect(await decode([read(1), read(2)], note)).toEqual([]);
    expect(decoded).toEqual([2, 1]);
    leftMs = 3_500;
    expect(await decode([read(1), read(2)], note)).toBeNull();
    expect(decoded).toEqual([2, 1, 2]);
  });

  test('a key frame within a group is not returned a second time', async () => {
    leftMs = 6_000;
    const picture = { frame: new Uint8Array(), thumbnail: new Uint8Array() };
    const run = [read(1), read(2, [2])];
    const frames = await decode(run, async (_, { fromSeconds }) =>
      [3, 7, 8].map((seconds) => ({ ...picture, seconds: fromSeconds + seconds })),
    );
    expect(frames?.map(({ segment, seconds }) => [segment.sequence, Math.round(seconds)])).toEqual([
      [1n, 3],
      [2n, 3],
    ]);
  });
});
