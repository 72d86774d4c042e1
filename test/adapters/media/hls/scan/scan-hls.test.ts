import { createCipheriv, randomBytes } from 'node:crypto';
import { afterEach, beforeAll, describe, expect, test } from 'vitest';
import { readJpegHeader } from '../../../../../core/stream/jpeg.ts';
import type { Capture } from '../../../../../core/records/capture.ts';
import { scanHls } from '../../../../../adapters/media/hls/scan/scan-hls.ts';
import { readMoment, record, type Recording } from '../../../../support/hls/recording.ts';
import type { Served } from '../../../../support/hls/file-server.ts';
import { mediaPlaylist, watchFiles, type WatchedStream } from '../../../../support/hls/watched-stream.ts';
import { mostDifferent } from '../../../../support/most-different.ts';
import { readPicture } from '../../../../support/read-picture.ts';

const never = new AbortController().signal;
let stream: WatchedStream;
let recording: Recording;

beforeAll(async () => {
  recording = await record({ keyFrameSeconds: 1 });
});
afterEach(() => stream.close());

async function serve(files: Record<string, Served>, from = recording): Promise<void> {
  const suffix = from.initialization === null ? 'ts' : 'm4s';
  const segments = Object.fromEntries(from.segments.map((bytes, index) => [`/${index}.${suffix}`, bytes]));
  stream = await watchFiles({ ...segments, '/init.mp4': from.initialization ?? '', ...files });
}

type Listed = { path?: string; lines?: (number: number) => string[]; suffix?: string; sequence?: number };

/** Sets the playlist to segments, each beginning at twice its number in seconds. */
function list(
  numbers: number[],
  { path = '/live.m3u8', lines = () => [], suffix = 'ts', sequence }: Listed = {},
) {
  const entries = numbers.flatMap((number) => [...lines(number), `${number}.${suffix}`]);
  stream.files[path] = mediaPlaylist(entries, sequence ?? numbers[0] ?? 0);
}

/** Returns the program date-time of a segment. */
const clock = (number: number, shiftSeconds = 0): string[] => [
  `#EXT-X-PROGRAM-DATE-TIME:${new Date(Date.parse('2026-11-20T11:59:30Z') + (number * 2 + shiftSeconds) * 1000).toISOString()}`,
];

async function look(since: string | null, path = '/live.m3u8') {
  const capture = await stream.capture(path, { lookBack: { since }, caller: 'ada' });
  return { ...capture, scan: capture.scan!, next: capture.position.scan ?? null };
}

const moments = ({ scan }: Pick<Capture, 'scan'>) =>
  scan!.frames.map(({ thumbnail }) => Math.round(readMoment(thumbnail)));
/** Seconds before the capture. */
const ages = ({ scan, capturedAt }: Pick<Capture, 'scan' | 'capturedAt'>) =>
  scan!.frames.map(({ at }) => (capturedAt.getTime() - at.getTime()) / 1000);

describe('scan of one rendition', () => {
  test('a server that numbers segments from 0 for each viewer is scanned by time, and what it lists no more is left out', async () => {
    await serve({});
    list([0, 1]);
    const first = await look(null);
    const { '/4.ts': later = '', '/5.ts': newest = '' } = stream.files;
    Object.assign(stream.files, { '/0.ts': later, '/1.ts': newest });
    stream.now = new Date(stream.now.getTime() + 8_000);
    const second = await look(first.next);
    expect(second.scan.isSeen).toBeFalsy();
    expect(moments(second)).toEqual([8, 9, 10]);
    expect(second.scan.leftOutSeconds).toBeCloseTo(5, 0);
    const third = await look(second.next);
    expect(third.scan).toMatchObject({ frames: [], leftOutSeconds: 0 });
  });

  test('a first capture scans nothing, and the next one all key frames since', async () => {
    await serve({});
    list([0, 1, 2]);
    const first = await look(null);
    expect(first.scan).toMatchObject({
      frames: [],
      coveredSeconds: 0,
      leftOutSeconds: 0,
      distanceSeconds: 0,
    });
    list([2, 3, 4, 5]);
    stream.requests.length = 0;
    const second = await look(first.next);
    expect(moments(second)).toEqual([6, 7, 8, 9, 10]);
    expect(Math.round(readMoment(second.thumbnail))).toBe(11);
    expect(ages(second)).toEqual([5, 4, 3, 2, 1]);
    expect(second.scan).toMatchObject({ coveredSeconds: 5, leftOutSeconds: 0, distanceSeconds: 1 });
    expect(stream.requests.toSorted()).toEqual(['/3.ts', '/4.ts', '/5.ts', '/live.m3u8']);
  });

  test('a capture of the same segment scans nothing, and keeps the position', async () => {
    await serve({});
    list([0, 1, 2]);
    const first = await look(null);
    const second = await look(first.next);
    expect(second.scan.frames).toEqual([]);
    expect(second.next).toBe(first.next);
  });

  test('the picture of a frame shows its moment in the size of a capture', async () => {
    await serve({});
    list([0]);
    const { next } = await look(null);
    list([0, 1, 2]);
    const { scan, frame } = await look(next);
    const picture = await readPicture(scan, 0);
    expect(readJpegHeader(picture!)).toMatchObject(readJpegHeader(frame)!);
  });
});

describe('scan of other formats', () => {
  test.each(
    mostDifferent([
      ['fMP4 with sound', { segmentType: 'fmp4', sound: true }],
      ['MPEG-TS of H.265', { codec: 'h265' }],
      ['fMP4 of H.265', { segmentType: 'fmp4', codec: 'h265' }],
      ['fMP4', { segmentType: 'fmp4' }],
      ['MPEG-TS with sound', { sound: true }],
    ]),
  )('the key frames of %s have the times of their bytes', async (_, options) => {
    const other = await record({ ...options, keyFrameSeconds: 0.5 });
    await serve({}, other);
    const isTs = other.initialization === null;
    const format: Listed = isTs ? {} : { suffix: 'm4s' };
    const map = (first: number): Listed => ({
      ...format,
      lines: (number) => [
        ...(number === first && !isTs ? ['#EXT-X-MAP:URI="init.mp4"'] : []),
        ...clock(number),
      ],
    });
    list([0, 1], map(0));
    const first = await look(null);
    list([1, 2, 3], map(1));
    const second = await look(first.next);
    expect(moments(second)).toEqual([4, 5, 6]);
    expect(ages(second).map((age) => Math.round(age * 10) / 10)).toEqual([3.5, 2.5, 1.5]);
    expect(second.scan.coveredSeconds).toBeCloseTo(3.5, 1);
  });

  test('encrypted segments are scanned with the keys of each', async () => {
    const key = randomBytes(16);
    const encrypted = Object.fromEntries(
      [3, 4].map((number) => {
        const iv = Buffer.alloc(16);
        iv.writeUInt32BE(number, 12);
        const cipher = createCipheriv('aes-128-cbc', key, iv);
        return [`/${number}.ts`, Buffer.concat([cipher.update(recording.segments[number]!), cipher.final()])];
      }),
    );
    await serve({ ...encrypted, '/key': key });
    list([0, 1]);
    const first = await look(null);
    const lines = (number: number) => (number === 3 ? ['#EXT-X-KEY:METHOD=AES-128,URI="/key"'] : []);
    list([1, 2, 3, 4], { lines });
    expect(moments(await look(first.next))).toEqual([4, 5, 6, 7, 8]);
  });

  test('each run between discontinuities is scanned with its own initialization', async () => {
    const [one, other] = await Promise.all([
      record({ segmentType: 'fmp4', keyFrameSeconds: 1 }),
      record({ segmentType: 'fmp4', keyFrameSeconds: 1, size: '320x180' }),
    ]);
    const of = (recording: Recording, name: string, numbers: number[]) =>
      Object.fromEntries(numbers.map((number) => [`/${name}${number}.m4s`, recording.segments[number]!]));
    await serve({
      ...of(one, 'a', [0, 1]),
      ...of(other, 'b', [0, 1]),
      '/a.mp4': one.initialization!,
      '/b.mp4': other.initialization!,
    });
    const a = ['#EXT-X-MAP:URI="a.mp4"', 'a0.m4s'];
    stream.files['/live.m3u8'] = mediaPlaylist(a);
    const first = await look(null);
    const b = ['#EXT-X-DISCONTINUITY', '#EXT-X-MAP:URI="b.mp4"', 'b0.m4s', 'b1.m4s'];
    stream.files['/live.m3u8'] = mediaPlaylist([...a, 'a1.m4s', ...b]);
    const second = await look(first.next);
    expect(moments(second)).toEqual([2, 3, 0, 1, 2]);
    expect(ages(second)).toEqual([5, 4, 3, 2, 1]);
  });
});

describe('scan with several renditions', () => {
  const master = [
    '#EXTM3U',
    '#EXT-X-STREAM-INF:BANDWIDTH=64000,CODECS="mp4a.40.2"',
    'sound.m3u8',
    '#EXT-X-STREAM-INF:BANDWIDTH=100000,RESOLUTION=160x90,CODECS="avc1.4d401f"',
    'tiny.m3u8',
    '#EXT-X-STREAM-INF:BANDWIDTH=3000000,RESOLUTION=1280x720,CODECS="avc1.4d401f"',
    'live.m3u8',
    '#EXT-X-STREAM-INF:BANDWIDTH=500000,RESOLUTION=320x180,CODECS="avc1.4d401f"',
    'low.m3u8',
  ].join('\n');

  async function serveBoth(): Promise<void> {
    const low = await record({ keyFrameSeconds: 1, size: '320x180' });
    const files = low.segments.map((bytes, index) => [`/low/${index}.ts`, bytes]);
    await serve({ ...Object.fromEntries(files), '/master.m3u8': master });
  }

  function listBoth(numbers: number[], lines?: Listed['lines'], behind = 0): void {
    list(numbers, { ...(lines && { lines }) });
    // Renditions share neither sequence numbers nor names.
    const low = numbers.slice(0, numbers.length - behind);
    const entries = low.flatMap((number) => [...(lines?.(number) ?? []), `low/${number}.ts`]);
    stream.files['/low.m3u8'] = mediaPlaylist(entries, 500 + (low[0] ?? 0));
  }

  test.each([
    ['with PROGRAM-DATE-TIME', (number: number) => clock(number)],
    ['without a clock', undefined],
  ])(
    'the lowest one of 160 lines is scanned, and pictures are of the one that is judged (%s)',
    async (_, lines) => {
      await serveBoth();
      listBoth([0, 1], lines);
      const first = await look(null, '/master.m3u8');
      listBoth([1, 2, 3, 4], lines);
      stream.requests.length = 0;
      const second = await look(first.next, '/master.m3u8');
      expect(moments(second)).toEqual([4, 5, 6, 7, 8]);
      expect(ages(second)).toEqual([5, 4, 3, 2, 1]);
      expect(stream.requests.toSorted()).toEqual([
        '/4.ts',
        '/live.m3u8',
        '/low.m3u8',
        '/low/2.ts',
        '/low/3.ts',
        '/low/4.ts',
      ]);
      stream.requests.length = 0;
      const picture = await readPicture(second.scan, 1);
      expect(readJpegHeader(picture!)).toMatchObject(readJpegHeader(second.frame)!);
      expect(stream.requests).toEqual(['/2.ts']);
    },
  );

  test('renditions without sizes and codecs are not scanned: one of them may be sound', async () => {
    const unknown = [
      '#EXTM3U',
      '#EXT-X-STREAM-INF:BANDWIDTH=64000',
      'sound.m3u8',
      '#EXT-X-STREAM-INF:BANDWIDTH=3000000',
      'live.m3u8',
    ];
    await serve({ '/master.m3u8': unknown.join('\n'), '/sound.m3u8': mediaPlaylist(['0.aac'], 0) });
    list([0, 1]);
    const first = await look(null, '/master.m3u8');
    list([1, 2]);
    expect(moments(await look(first.next, '/master.m3u8'))).toEqual([4]);
    expect(stream.requests.filter((path) => path.includes('sound') || path.includes('aac'))).toEqual([]);
  });

  test('a rendition that is a segment behind is scanned up to its end, and the rest by the next capture', async () => {
    await serveBoth();
    listBoth([0, 1]);
    const first = await look(null, '/master.m3u8');
    listBoth([0, 1, 2, 3], clock, 1);
    const second = await look(first.next, '/master.m3u8');
    expect(moments(second)).toEqual([4, 5]);
    listBoth([2, 3, 4], clock);
    expect(moments(await look(second.next, '/master.m3u8'))).toEqual([6, 7, 8]);
  });

  test('a rendition that cannot be read is replaced by the one that is judged', async () => {
    await serveBoth();
    listBoth([0, 1], clock);
    const first = await look(null, '/master.m3u8');
    listBoth([1, 2, 3], clock);
    delete stream.files['/low.m3u8'];
    expect(moments(await look(first.next, '/master.m3u8'))).toEqual([4, 5, 6]);
  });

  test('a moment that the judged rendition does not have any more has the scanned frame', async () => {
    await serveBoth();
    listBoth([0, 1]);
    const { next } = await look(null, '/master.m3u8');
    listBoth([1, 2, 3]);
    const { scan, frame } = await look(next, '/master.m3u8');
    delete stream.files['/2.ts'];
    const picture = await readPicture(scan, 0);
    expect(readJpegHeader(picture!)).toEqual({ width: 320, height: 180 });
    expect(readJpegHeader(frame)).not.toEqual({ width: 320, height: 180 });
  });
});

describe('scan of a stream in trouble', () => {
  test('a segment that is gone is left out, and the scan continues with the next', async () => {
    await serve({});
    list([0, 1]);
    const first = await look(null);
    list([1, 2, 3, 4]);
    delete stream.files['/3.ts'];
    const second = await look(first.next);
    expect(moments(second)).toEqual([4, 5, 8]);
    expect(second.scan).toMatchObject({ leftOutSeconds: 2, coveredSeconds: 1, distanceSeconds: 3 });
  });

  test('segments that the playlist lists no more are left out', async () => {
    await serve({});
    list([0, 1]);
    const first = await look(null);
    stream.now = new Date(stream.now.getTime() + 8_000);
    list([4, 5]);
    const second = await look(first.next);
    expect(moments(second)).toEqual([8, 9, 10]);
    expect(second.scan).toMatchObject({ leftOutSeconds: 4, coveredSeconds: 3 });
  });

  test('a playlist of an hour is scanned for a minute and the delay of a check', async () => {
    await serve({});
    const hour = Array.from({ length: 1800 }, (_, index) => `${index % 8}.ts?n=${index}`);
    stream.files['/live.m3u8'] = mediaPlaylist(hour.slice(0, 1));
    const first = await look(null);
    stream.files['/live.m3u8'] = mediaPlaylist(hour);
    const second = await look(first.next);
    expect(second.scan.coveredSeconds).toBe(69);
    expect(second.scan.leftOutSeconds).toBe(3600 - 2 - 70);
    expect(second.scan.frames).toHaveLength(69);
  });

  test('frames that cannot be decoded are left out, and fail no capture', async () => {
    await serve({});
    list([0, 1]);
    const first = await look(null);
    stream.files['/2.ts'] = Buffer.alloc(5000, 1);
    stream.files['/3.ts'] = '';
    list([1, 2, 3, 4]);
    const second = await look(first.next);
    expect(moments(second)).toEqual([8]);
    expect(second.scan.leftOutSeconds).toBe(4);
  });

  test('frames that are only marked as key frames are left out, and fail no capture', async () => {
    await serve({});
    list([0, 1]);
    const first = await look(null);
    // The transport stream still marks them as points of random access.
    const broken = Buffer.from(recording.segments[3]!);
    for (let at = broken.indexOf('00000165', 0, 'hex'); at >= 0; at = broken.indexOf('00000165', at, 'hex'))
      broken[at + 3] = 0x41;
    stream.files['/3.ts'] = broken;
    list([1, 2, 3, 4]);
    const second = await look(first.next);
    expect(moments(second)).toEqual(expect.arrayContaining([4, 5, 8]));
    expect(second.scan.frames.length).toBeLessThanOrEqual(5);
    expect(Math.round(readMoment(second.thumbnail))).toBe(9);
  });

  test.each([3600, -3600])('a clock of the stream that jumps by %i s judges nothing twice', async (jump) => {
    await serve({});
    const show = (numbers: number[], shift: number) =>
      list(numbers, { lines: (number) => clock(number, number > 2 ? shift : 0) });
    show([0, 1, 2], 0);
    let { next } = await look(null);
    const seen: number[] = [];
    for (const numbers of [
      [1, 2, 3],
      [2, 3, 4],
      [2, 3, 4],
      [3, 4, 5, 6],
    ]) {
      show(numbers, jump);
      const capture = await look(next);
      seen.push(...moments(capture));
      ({ next } = capture);
    }
    // Beside these, each capture has its newest frame.
    expect(seen).toEqual([6, 8, 10, 11, 12]);
  });

  test('an encoder that starts to count again is scanned from its start, and nothing twice', async () => {
    await serve({});
    list([3, 4], { sequence: 100, lines: (number) => clock(number) });
    const first = await look(null);
    stream.now = new Date(stream.now.getTime() + 4_000);
    list([5, 6], { sequence: 0, lines: (number) => clock(number) });
    expect(moments(await look(first.next))).toEqual([10, 11, 12]);
  });

  test.each([-3600, 3600])('a clock that jumps by %i s makes no frame appear twice', async (shift) => {
    await serve({});
    list([0, 1], { lines: (number) => clock(number) });
    const first = await look(null);
    list([0, 1, 2, 3], { lines: (number) => clock(number, number >= 2 ? shift : 0) });
    const second = await look(first.next);
    expect(moments(second)).toEqual([4, 5, 6]);
    expect(ages(second)).toEqual([3, 2, 1]);
    list([2, 3, 4], { lines: (number) => clock(number, shift) });
    expect(moments(await look(second.next))).toEqual([8]);
  });

  test('an outdated playlist of an edge server is not scanned again', async () => {
    await serve({});
    list([0, 1, 2, 3]);
    const first = await look(null);
    list([0, 1, 2]);
    const second = await look(first.next);
    expect(second.scan.frames).toEqual([]);
    list([2, 3, 4]);
    expect(moments(await look(second.next))).toEqual([8]);
  });

  test('a scan that fails leaves out the whole time since the position, and fails no capture', async () => {
    await serve({});
    list([0, 1, 2]);
    const edge = { capture: await stream.capture('/live.m3u8'), playlist: null!, read: [] };
    const lookBack = { since: `- 1 ${edge.capture.capturedAt.getTime() - 300_000}` };
    const { scan } = await scanHls({} as never, edge, null, { lookBack } as never, never);
    expect(scan).toMatchObject({ frames: [], coveredSeconds: 0, leftOutSeconds: 300 });
  });

  test('an unreadable position starts a new scan', async () => {
    await serve({});
    list([0, 1]);
    const { scan, next } = await look('not a position');
    expect(scan.frames).toEqual([]);
    expect(next).toMatch(/^- 1:/);
  });

  test('a clip is captured with the key frames before its end', async () => {
    await serve({});
    list([0, 1]);
    const first = await look(null);
    list([0, 1, 2, 3]);
    const request = { mode: 'clip', lookBack: { since: first.next } } as const;
    const capture = await stream.capture('/live.m3u8', request);
    expect(capture.clip?.length).toBeGreaterThan(0);
    expect(moments(capture)).toEqual([4, 5, 6, 7]);
    expect(ages(capture)).toEqual([4, 3, 2, 1]);
  });
});
