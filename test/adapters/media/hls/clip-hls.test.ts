import { createCipheriv, randomBytes } from 'node:crypto';
import { afterEach, beforeAll, expect, test } from 'vitest';
import { StreamFetchError } from '../../../../core/errors.ts';
import type { ClipRequest } from '../../../../core/records/clip.ts';
import { record, type Recording } from '../../../support/hls/recording.ts';
import { mediaPlaylist, watchFiles, type WatchedStream } from '../../../support/hls/watched-stream.ts';
import { readFilm } from '../../../support/read-film.ts';

let stream: WatchedStream;
let recording: Recording;

beforeAll(async () => {
  recording = await record({ sound: true });
});
afterEach(() => stream.close());

const begunMs = Date.parse('2026-11-20T11:59:30Z');
/** Time at which the stream shows a time of the recording, in seconds. */
const at = (seconds: number) => new Date(begunMs + seconds * 1000);
const clock = (number: number) => `#EXT-X-PROGRAM-DATE-TIME:${at(number * 2).toISOString()}`;
const span = (openedAt: number, before: number, after: number) => ({
  openedAt: at(openedAt),
  from: at(openedAt - before),
  to: at(openedAt + after),
});

async function serve(from = recording, options: Parameters<typeof watchFiles>[1] = {}): Promise<void> {
  const suffix = from.initialization === null ? 'ts' : 'm4s';
  const segments = from.segments.map((bytes, index) => [`/${index}.${suffix}`, bytes]);
  stream = await watchFiles(
    { ...Object.fromEntries(segments), '/init.mp4': from.initialization ?? '' },
    options,
  );
}

type Lines = (number: number) => string[];

/** Lists segments, with a time and other lines before each. */
function list(
  numbers: number[],
  { lines = () => [], suffix = 'ts' }: { lines?: Lines; suffix?: string } = {},
) {
  const entries = numbers.flatMap((number) => [clock(number), ...lines(number), `${number}.${suffix}`]);
  stream.files['/live.m3u8'] = mediaPlaylist(entries, numbers[0] ?? 0);
}

async function clip(request: Pick<ClipRequest, 'openedAt' | 'from' | 'to'> & Partial<ClipRequest>) {
  const { film, ...result } = await stream.clip('/live.m3u8', request);
  if (result.kind !== 'clip') return result;
  const { bytes, from, to, ...rest } = result;
  expect(film).toHaveLength(bytes);
  const shown = await readFilm(film);
  const [first = NaN, last = NaN] = [shown[0], shown.at(-1)].map((each) => Math.round(each ?? NaN));
  return {
    ...rest,
    first,
    last,
    from: (from.getTime() - begunMs) / 1000,
    to: (to.getTime() - begunMs) / 1000,
  };
}

const fetched = () => stream.requests.filter((path) => !path.endsWith('.m3u8'));

test('a clip has the segments around the opening, from key frame to end, without sound', async () => {
  await serve();
  list([0, 1, 2, 3, 4, 5]);
  expect(await clip(span(6, 3, 3))).toEqual({
    kind: 'clip',
    codec: 'avc1',
    first: 2,
    last: 10,
    from: 2,
    to: 10,
  });
  expect(fetched()).toEqual(['/1.ts', '/2.ts', '/3.ts', '/4.ts']);
});

test('fragmented MP4 with its initialization section is joined', async () => {
  await serve(await record({ segmentType: 'fmp4' }));
  list([0, 1, 2, 3], {
    suffix: 'm4s',
    lines: (number) => (number === 0 ? ['#EXT-X-MAP:URI="init.mp4"'] : []),
  });
  expect(await clip(span(4, 2, 2))).toMatchObject({ first: 2, last: 6, codec: 'avc1' });
});

test.each(['mpegts', 'fmp4'] as const)('H.265 in %s has the name that Safari plays', async (segmentType) => {
  await serve(await record({ segmentType, codec: 'h265' }));
  const map = (number: number) => (number === 0 ? ['#EXT-X-MAP:URI="init.mp4"'] : []);
  list([0, 1, 2], segmentType === 'fmp4' ? { suffix: 'm4s', lines: map } : {});
  expect(await clip(span(3, 3, 3))).toMatchObject({ first: 0, last: 6, codec: 'hvc1' });
});

test('a clip of a playlist without times has a segment more on both sides, since captures may date it late', async () => {
  await serve();
  const show = (numbers: number[], now: number) => {
    stream.now = at(now);
    stream.files['/live.m3u8'] = mediaPlaylist(
      numbers.map((number) => `${number}.ts`),
      numbers[0] ?? 0,
    );
  };
  // The newest segment ended 1.9 s ago.
  show([0, 1, 2], 7.9);
  expect(await clip(span(6, 2, 4))).toMatchObject({ kind: 'pending' });
  show([1, 2, 3], 9.9);
  expect(await clip(span(6, 2, 4))).toMatchObject({ kind: 'pending' });
  show([2, 3, 4], 11.9);
  expect(await clip(span(6, 2, 4))).toMatchObject({ first: 0, last: 10 });
});

test.each([
  // Newest frames are up to 2 s old.
  ['two hours behind', -7200, { behindSeconds: 7202 }, { first: 4, last: 8, from: 6, to: 10 }],
  ['a minute and a half behind', -90, { behindSeconds: 92 }, { first: 4, last: 8, from: 6, to: 10 }],
  ['two days behind', -172_800, {}, { first: 4, last: 12 }],
  ['in the future', 7200, {}, { first: 4, last: 12 }],
])('a stream whose clock is %s has its clip', async (_, offset, opening, shown) => {
  await serve();
  const request = { lookBack: { since: null as string | null }, clipBeforeSeconds: 8 };
  const show = (numbers: number[], now: number) => {
    stream.now = at(now);
    const other = (number: number) => `#EXT-X-PROGRAM-DATE-TIME:${at(number * 2 + offset).toISOString()}`;
    stream.files['/live.m3u8'] = mediaPlaylist(
      numbers.flatMap((number) => [other(number), `${number}.ts`]),
      numbers[0] ?? 0,
    );
  };
  show([0, 1], 4);
  request.lookBack.since = (await stream.capture('/live.m3u8', request)).position.scan ?? null;
  show([1, 2, 3], 8);
  request.lookBack.since = (await stream.capture('/live.m3u8', request)).position.scan ?? null;
  show([4, 5, 6], 14);
  expect(await clip({ ...span(7, 3, 3), ...opening })).toMatchObject({ kind: 'clip', ...shown });
});

test('a playlist that lists the whole clip at its end says when', async () => {
  await serve();
  list([0, 1, 2, 3, 4, 5, 6, 7]);
  stream.now = at(16);
  // 16 s are listed: 4 of the clip, two segments, and 8 to read it.
  expect(await clip(span(15, 1, 3))).toMatchObject({ kind: 'pending', listedAfterSeconds: 4 });
  expect(await clip(span(15, 2, 3))).toEqual({ kind: 'pending', afterSeconds: 2 });
});

test('encrypted segments are decrypted', async () => {
  await serve();
  const [key, iv] = [randomBytes(16), Buffer.alloc(16)];
  stream.files['/key'] = key;
  for (const number of [0, 1, 2]) {
    const cipher = createCipheriv('aes-128-cbc', key, iv);
    stream.files[`/${number}.ts`] = Buffer.concat([
      cipher.update(recording.segments[number] ?? ''),
      cipher.final(),
    ]);
  }
  const tag = `#EXT-X-KEY:METHOD=AES-128,URI="key",IV=0x${iv.toString('hex')}`;
  list([0, 1, 2], { lines: () => [tag] });
  expect(await clip(span(3, 3, 3))).toMatchObject({ first: 0, last: 6 });
});

test('segments that a scan has read are kept, and fetched no second time', async () => {
  await serve();
  const lookBack = { since: null as string | null };
  const request = () => ({ lookBack, clipBeforeSeconds: 8 });
  list([0, 1]);
  lookBack.since = (await stream.capture('/live.m3u8', request())).position.scan ?? null;
  list([2, 3, 4]);
  lookBack.since = (await stream.capture('/live.m3u8', request())).position.scan ?? null;
  stream.requests.length = 0;
  list([5, 6]);
  expect(await clip(span(8, 4, 4))).toMatchObject({ first: 4, last: 12 });
  expect(fetched()).toEqual(['/5.ts']);
});

test('25 concurrent clips of one stream fetch each segment once', async () => {
  await serve();
  list([0, 1, 2, 3, 4]);
  const films = await Promise.all(Array.from({ length: 25 }, () => stream.clip('/live.m3u8', span(5, 4, 4))));
  expect(films.map(({ kind }) => kind)).toEqual(Array.from({ length: 25 }, () => 'clip'));
  expect(fetched().toSorted()).toEqual(['/0.ts', '/1.ts', '/2.ts', '/3.ts', '/4.ts']);
});

test('a clip whose end has not come keeps what the playlist lists, and is read again before that is gone', async () => {
  await serve();
  stream.now = at(7);
  list([0, 1, 2]);
  expect(await clip(span(4, 4, 8))).toEqual({ kind: 'pending', afterSeconds: 2 });
  stream.now = at(13);
  list([4, 5]);
  expect(await clip(span(4, 4, 8))).toMatchObject({ first: 0, last: 6, to: 6 });
  stream.now = at(8);
  list([3]);
  expect(await clip(span(4, 4, 8))).toMatchObject({ first: 0, last: 12, to: 12 });
});

test('a stream that comes to no end of the clip has what there is', async () => {
  await serve();
  list([0, 1, 2]);
  stream.now = at(19);
  expect(await clip(span(4, 4, 8))).toMatchObject({ kind: 'pending' });
  stream.now = at(25);
  expect(await clip(span(4, 4, 8))).toMatchObject({ first: 0, last: 6, from: 0, to: 6 });
});

test('a stream that is lost after the opening has what was read of it', async () => {
  await serve();
  stream.now = at(7);
  list([0, 1, 2]);
  expect(await clip(span(4, 4, 8))).toMatchObject({ kind: 'pending' });
  delete stream.files['/live.m3u8'];
  stream.now = at(20);
  expect(await clip(span(4, 4, 8))).toMatchObject({ kind: 'pending' });
  stream.now = at(25);
  expect(await clip(span(4, 4, 8))).toMatchObject({ first: 0, last: 6, to: 6 });
});

test.each([
  ['/live.m3u8', expect.any(StreamFetchError)],
  ['/2.ts', expect.objectContaining({ first: 6, last: 8 })],
])('a clip is read later if the server fails for %s, and has what there is at last', async (path, late) => {
  await serve();
  stream.now = at(60);
  list([0, 1, 2, 3]);
  const served = stream.files[path];
  stream.files[path] = { body: '', status: 503 };
  expect(await clip(span(5, 3, 3))).toEqual({ kind: 'pending', afterSeconds: expect.any(Number) });
  stream.now = at(129);
  expect(await clip(span(5, 3, 3)).catch((error: unknown) => error)).toEqual(late);
  stream.files[path] = served ?? '';
  expect(await clip(span(5, 3, 3))).toMatchObject({ first: 2, last: 8 });
});

test('a stream that refuses the password is not asked again for a clip', async () => {
  await serve();
  stream.files['/live.m3u8'] = { body: '', status: 401 };
  stream.now = at(7);
  await expect(clip(span(4, 4, 8))).rejects.toThrow(StreamFetchError);
});

test('a segment that is gone ends the clip', async () => {
  await serve();
  delete stream.files['/1.ts'];
  list([0, 1, 2, 3]);
  expect(await clip(span(5, 5, 3))).toMatchObject({ first: 4, last: 8, from: 4 });
});

test.each([3, 7.5])(
  'an opening that is lost has no clip, nor has %s s of which the last one is there',
  async (after) => {
    await serve();
    list([5, 6]);
    expect(await clip(span(4, 3, after))).toEqual({
      kind: 'none',
      reason: 'The stream does not have the time of the opening any more',
    });
  },
);

test.each([
  ['discontinuity', (number: number) => (number === 2 ? ['#EXT-X-DISCONTINUITY'] : [])],
  ['gap', (number: number) => (number === 1 ? ['#EXT-X-GAP'] : [])],
])('a clip begins after a %s before the opening', async (_what, lines) => {
  await serve();
  list([0, 1, 2, 3], { lines });
  expect(await clip(span(5, 5, 3))).toMatchObject({ first: 4, last: 8, from: 4 });
});

test.each([
  ['codec', { codec: 'h265' }],
  ['size', { size: '320x180' }],
] as const)('another %s in the playlist ends the clip', async (_what, options) => {
  await serve();
  const other = await record(options);
  Object.assign(stream.files, { '/2.ts': other.segments[2], '/3.ts': other.segments[3] });
  list([0, 1, 2, 3]);
  expect(await clip(span(3, 3, 5))).toMatchObject({ first: 0, last: 4, to: 4, codec: 'avc1' });
});

test('an endless segment ends the clip', async () => {
  await serve(recording, { limits: { requestTimeoutMs: 300 } });
  stream.files['/2.ts'] = { body: recording.segments[2] ?? '', pieces: 40, pauseMs: 100 };
  list([0, 1, 2]);
  stream.now = at(40);
  expect(await clip(span(3, 3, 3))).toMatchObject({ first: 0, last: 4, to: 4 });
});

test('a bound that a clip exceeds takes from its begin and its end', async () => {
  const bytes = recording.segments.reduce((largest, { length }) => Math.max(largest, length), 0);
  await serve(recording, { clipBytes: 3.5 * bytes });
  list([0, 1, 2, 3, 4, 5, 6]);
  const film = await stream.clip('/live.m3u8', span(11, 11, 3));
  expect(film).toMatchObject({ kind: 'clip', from: at(8), to: at(14) });
});

test('an excluded region is black in the clip', async () => {
  await serve(await record({ size: '320x180' }));
  list([5, 6, 7]);
  const points = [
    [0, 0],
    [1, 0],
    [1, 1],
    [0, 1],
  ];
  const whole = await clip({ ...span(13, 2, 2), regions: [{ mode: 'include', points }] });
  expect(whole).toMatchObject({ first: 10, last: 16 });
  // Black is 2.5 s before the begin.
  const masked = await clip({ ...span(13, 2, 2), regions: [{ mode: 'exclude', points }] });
  expect(masked).toMatchObject({ codec: 'avc1' });
  expect(masked).not.toMatchObject({ first: 10 });
  expect('first' in masked && masked.first).toBeLessThan(0);
});
