import { afterEach, describe, expect, test } from 'vitest';
import { jpegSize } from '../../../support/hls/jpeg-size.ts';
import { record, type RecordingOptions } from '../../../support/hls/recording.ts';
import {
  readFailure,
  mediaPlaylist,
  watchFiles,
  type WatchedStream,
} from '../../../support/hls/watched-stream.ts';

let stream: WatchedStream;
afterEach(() => stream.close());

/**
 * Serves the first three segments of a recording as `/0.ts` to `/2.ts` (or `.m4s`), each transformed by `change`.
 */
async function serve(options: RecordingOptions, change: (segment: Buffer) => Buffer = (segment) => segment) {
  const { segments, initialization } = await record({ seconds: 6, ...options });
  const suffix = initialization === null ? 'ts' : 'm4s';
  const names = segments.map((_, index) => `${index}.${suffix}`);
  const map = initialization === null ? [] : ['#EXT-X-MAP:URI="init.mp4"'];
  stream = await watchFiles({
    '/live.m3u8': mediaPlaylist([...map, ...names]),
    ...(initialization && { '/init.mp4': initialization }),
    ...Object.fromEntries(segments.map((segment, index) => [`/${names[index]}`, change(segment)])),
  });
  return { segments, initialization };
}

/** The newest segment starts at 4 s and has 2 s: a frame is its key frame, the last frame of a clip its end. */
async function expectPictures(): Promise<void> {
  expect(await stream.moment('/live.m3u8')).toBeCloseTo(4, 0);
  const { clip, thumbnail, frame } = await stream.capture('/live.m3u8', { mode: 'clip' });
  expect(Buffer.from(clip!).toString('latin1', 4, 8)).toBe('ftyp');
  expect([thumbnail.length, jpegSize(frame)]).toEqual([21_600, { width: 160, height: 90 }]);
  expect(await stream.moment('/live.m3u8', { mode: 'hybrid' })).toBeGreaterThan(5.5);
}

describe('MPEG-TS', () => {
  test('MPEG-TS with H.265 is captured', async () => {
    await serve({ codec: 'h265' });
    await expectPictures();
  });

  test('MPEG-TS with audio first is captured', async () => {
    await serve({ sound: true });
    await expectPictures();
  });

  test('MPEG-TS with leading garbage is captured', async () => {
    await serve({}, (segment) => Buffer.concat([Buffer.alloc(1000, 'x'), segment]));
    await expectPictures();
  });

  test('MPEG-TS with late tables is captured, with the tables of the previous segment', async () => {
    await serve({}, tablesLate);
    expect(await stream.moment('/live.m3u8')).toBeCloseTo(4, 0);
  });

  test('MPEG-TS with tables in a media initialization section is captured', async () => {
    const { segments } = await serve({});
    const [, ...rest] = [0, 1, 2].map((index) => `${index}.ts`);
    stream.files['/tables.ts'] = packets(segments[0]!).filter(isTable).reduce(join, Buffer.alloc(0));
    stream.files['/1.ts'] = packets(segments[1]!)
      .filter((packet) => !isTable(packet))
      .reduce(join);
    stream.files['/2.ts'] = packets(segments[2]!)
      .filter((packet) => !isTable(packet))
      .reduce(join);
    stream.files['/live.m3u8'] = mediaPlaylist(['#EXT-X-MAP:URI="tables.ts"', ...rest]);
    await expectPictures();
  });

  test('MPEG-TS that is truncated within a packet is captured up to that point', async () => {
    await serve({}, (segment) => segment.subarray(0, segment.length - 100));
    expect(await stream.moment('/live.m3u8')).toBeCloseTo(4, 0);
  });
});

describe('fragmented MP4', () => {
  test('fMP4 with H.265 (hvc1) is captured', async () => {
    await serve({ codec: 'h265', segmentType: 'fmp4' });
    await expectPictures();
  });

  test('fMP4 with audio first is captured', async () => {
    await serve({ sound: true, segmentType: 'fmp4' });
    await expectPictures();
  });

  test('fMP4 in byte ranges of one file, with its media initialization section, is captured', async () => {
    const { segments, initialization } = await serve({ segmentType: 'fmp4' });
    stream.files['/all.mp4'] = Buffer.concat([initialization!, ...segments]);
    const ranges = segments.map(({ length }) => `#EXT-X-BYTERANGE:${length}`);
    ranges[0] += `@${initialization!.length}`;
    stream.files['/live.m3u8'] = mediaPlaylist([
      `#EXT-X-MAP:URI="all.mp4",BYTERANGE="${initialization!.length}@0"`,
      ...ranges.flatMap((range) => [range, 'all.mp4']),
    ]);
    await expectPictures();
  });

  test('fMP4 in whole files without a media initialization section is captured', async () => {
    const { initialization } = await serve({ segmentType: 'fmp4' }, (segment) => segment);
    for (const [name, segment] of Object.entries(stream.files)) {
      if (!name.endsWith('.m4s') || !Buffer.isBuffer(segment)) continue;
      stream.files[name.replace('m4s', 'mp4')] = Buffer.concat([initialization!, segment]);
    }
    stream.files['/live.m3u8'] = mediaPlaylist(['0.mp4', '1.mp4', '2.mp4']);
    expect(await stream.moment('/live.m3u8')).toBeCloseTo(4, 0);
  });
});

test('a stream with audio only is reported as undecodable', async () => {
  await serve({ sound: true }, withoutPicture);
  expect((await readFailure(stream.capture('/live.m3u8'))).message).toBe(
    'Failed to capture frame from stream',
  );
});

const packetBytes = 188;
const join = (before: Buffer, after: Buffer): Buffer => Buffer.concat([before, after]);

function packets(segment: Buffer): Buffer[] {
  return Array.from({ length: segment.length / packetBytes }, (_, index) =>
    segment.subarray(index * packetBytes, (index + 1) * packetBytes),
  );
}

const pid = (packet: Buffer): number => packet.readUInt16BE(1) & 0x1fff;
/** PIDs of ffmpeg: tables of programs and tracks, service description, then the tracks. */
const isTable = (packet: Buffer): boolean => [0, 17, 0x1000].includes(pid(packet));

function tablesLate(segment: Buffer): Buffer {
  const all = packets(segment);
  const others = all.filter((packet) => !isTable(packet));
  const middle = others.length >> 1;
  return [...others.slice(0, middle), ...all.filter(isTable), ...others.slice(middle)].reduce(join);
}

/** The second track is the video. */
function withoutPicture(segment: Buffer): Buffer {
  return packets(segment)
    .filter((packet) => pid(packet) !== 0x101)
    .reduce(join);
}
