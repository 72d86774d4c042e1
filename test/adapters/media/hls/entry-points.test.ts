import { describe, expect, onTestFinished, test } from 'vitest';
import { trimToLastSeconds } from '../../../../adapters/media/mpeg-ts/trim-transport-stream.ts';
import { indexAccessUnits } from '../../../../adapters/media/mpeg-ts/access-units.ts';
import { thumbnail, type Capture } from '../../../../core/records/capture.ts';
import { readMoment, record, type RecordingOptions } from '../../../support/hls/recording.ts';
import { mediaPlaylist, readFailure, watchFiles } from '../../../support/hls/watched-stream.ts';

const startsAt = Date.parse('2026-11-20T12:00:00Z');

/** Serves the segments from `from` on, of 2 s each. Only the first segment of a recording has an IDR picture. */
async function serve(options: RecordingOptions, from = 3, to = 5) {
  const { segments, initialization } = await record({ keyFrameSeconds: 1, seconds: 12, ...options });
  const suffix = initialization ? 'm4s' : 'ts';
  const files = Object.fromEntries(segments.map((bytes, index) => [`/${index}.${suffix}`, bytes]));
  const numbers = Array.from({ length: to - from + 1 }, (_, index) => from + index);
  const watched = await watchFiles({
    ...files,
    ...(initialization && { '/init.mp4': initialization }),
    '/live.m3u8': mediaPlaylist(
      [
        ...(initialization ? ['#EXT-X-MAP:URI="init.mp4"'] : []),
        ...numbers.flatMap((index) => [
          `#EXT-X-PROGRAM-DATE-TIME:${new Date(startsAt + index * 2_000).toISOString()}`,
          '#EXTINF:2.0,',
          `${index}.${suffix}`,
        ]),
      ],
      from,
    ),
  });
  watched.now = new Date(startsAt + 2_000 * (to + 1));
  onTestFinished(() => watched.close());
  return watched;
}

/** Difference of the brightest and the darkest pixel. A picture of the recording has one brightness. */
function contrast({ thumbnail: planar }: Capture): number {
  const luma = planar.subarray(0, thumbnail.width * thumbnail.height);
  return Math.max(...luma) - Math.min(...luma);
}

const secondsOf = ({ capturedAt }: Capture): number => (capturedAt.getTime() - startsAt) / 1000;

describe.each(['open', 'refreshed'] as const)('a stream with groups of kind "%s"', (groups) => {
  test.each(['mpegts', 'fmp4'] as const)('a frame is whole, new and dated (%s)', async (segmentType) => {
    const frame = await (await serve({ groups, segmentType })).capture('/live.m3u8');
    expect(contrast(frame)).toBeLessThanOrEqual(4);
    const seconds = readMoment(frame.thumbnail);
    expect(seconds).toBeGreaterThan(10.8);
    expect(Math.abs(secondsOf(frame) - seconds)).toBeLessThan(0.3);
    expect(frame.clip).toBeUndefined();
  });

  test.each(['mpegts', 'fmp4'] as const)(
    'a clip has whole pictures up to the newest one (%s)',
    async (type) => {
      const watched = await serve({ groups, segmentType: type });
      const clip = await watched.capture('/live.m3u8', { mode: 'clip', clipSeconds: 2 });
      expect(contrast(clip)).toBeLessThanOrEqual(4);
      expect(readMoment(clip.thumbnail)).toBeGreaterThan(11.5);
      expect(clip.clip?.length).toBeGreaterThan(1_000);
    },
  );

  test('a frame is whole where an IDR picture is in the same segments', async () => {
    const frame = await (await serve({ groups }, 0, 1)).capture('/live.m3u8');
    expect(contrast(frame)).toBeLessThanOrEqual(4);
    expect(readMoment(frame.thumbnail)).toBeGreaterThan(2.8);
  });
});

test.each(['mpegts', 'fmp4'] as const)('a scan leaves out intra refresh (%s)', async (segmentType) => {
  const watched = await serve({ groups: 'refreshed', segmentType });
  const since = `- 3:elsewhere ${startsAt + 8_000}`;
  const { scan } = await watched.capture('/live.m3u8', { lookBack: { since } });
  expect(scan).toMatchObject({ frames: [], coveredSeconds: 0 });
  expect(scan?.leftOutSeconds).toBeGreaterThanOrEqual(4);
});

test('a scan has the pictures of open groups', async () => {
  const watched = await serve({ groups: 'open' });
  const { scan } = await watched.capture('/live.m3u8', {
    lookBack: { since: `- 3:elsewhere ${startsAt + 8_000}` },
  });
  const shown = scan!.frames.map(({ thumbnail }) => readMoment(thumbnail));
  expect(shown).toHaveLength(2);
  for (const [index, { at }] of scan!.frames.entries())
    expect(Math.abs((at.getTime() - startsAt) / 1000 - shown[index]!)).toBeLessThan(0.3);
});

test('a refresh that is not over has no picture', async () => {
  const { segments } = await record({ keyFrameSeconds: 1, groups: 'refreshed' });
  const bytes = segments[3]!;
  // The picture is whole 8 frames after the first one.
  const ends = indexAccessUnits([bytes])!.accessUnits.map(({ at }) => at);
  expect(trimToLastSeconds([Buffer.from(bytes.subarray(0, ends[8]))], 0)).toEqual([]);
  expect(trimToLastSeconds([Buffer.from(bytes.subarray(0, ends[9]))], 0)!.length).toBeGreaterThan(0);
});

test('a stream without parameter sets in its newest segments is explained', async () => {
  const watched = await serve({ groups: 'headless' });
  const error = await readFailure(watched.capture('/live.m3u8'));
  expect(error.remediation).toMatch(/no parameter sets .*IDR pictures/);
});
