import { createCipheriv } from 'node:crypto';
import { afterEach, beforeAll, describe, expect, test } from 'vitest';
import { extractLastKeyFrame } from '../../../../adapters/media/mpeg-ts/extract-key-frames.ts';
import type { Served } from '../../../support/hls/file-server.ts';
import { readMoment, record } from '../../../support/hls/recording.ts';
import {
  readFailure,
  mediaPlaylist,
  watchRecording,
  type WatchedStream,
} from '../../../support/hls/watched-stream.ts';

let segments: Buffer[];
let stream: WatchedStream;

beforeAll(async () => {
  ({ segments } = await record());
});
afterEach(() => stream.close());

async function serve(files: Record<string, Served>, options: { unseen?: boolean } = {}): Promise<void> {
  stream = await watchRecording(files, options);
}

/** Decodes nothing, for tests of requests and errors. */
const unseen = { unseen: true };

const live = '/live.m3u8';
const playlists = (): string[] => stream.requests.filter((path) => path.includes('.m3u8'));
const position = async (): Promise<string | null> => (await stream.capture(live)).position.segment;

describe('multivariant playlist', () => {
  test('a multivariant playlist leads to video, never to audio, subtitles or I-frame playlists', async () => {
    await serve({
      '/master.m3u8': [
        '#EXTM3U',
        '#EXT-X-INDEPENDENT-SEGMENTS',
        '#EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID="a",NAME="Deutsch",DEFAULT=YES,URI="sound.m3u8"',
        '#EXT-X-MEDIA:TYPE=SUBTITLES,GROUP-ID="s",NAME="Français",URI="text.m3u8"',
        '#EXT-X-MEDIA:TYPE=CLOSED-CAPTIONS,GROUP-ID="c",NAME="CC",INSTREAM-ID="CC1"',
        '#EXT-X-I-FRAME-STREAM-INF:BANDWIDTH=9000,RESOLUTION=1280x720,CODECS="avc1.4d401f",URI="keys.m3u8"',
        '#EXT-X-STREAM-INF:BANDWIDTH=60000,CODECS="mp4a.40.2",AUDIO="a"',
        'sound.m3u8',
        '#EXT-X-STREAM-INF:BANDWIDTH=900000,RESOLUTION=1280x720,CODECS="avc1.4d401f,mp4a.40.2",AUDIO="a",SUBTITLES="s",CLOSED-CAPTIONS="c"',
        'live.m3u8',
        '#EXT-X-SESSION-DATA:DATA-ID="x",VALUE="y"',
      ].join('\n'),
      [live]: mediaPlaylist(['3.ts', '4.ts']),
    });
    expect(await stream.moment('/master.m3u8')).toBeCloseTo(8, 0);
    expect(stream.requests).toEqual(['/master.m3u8', '/live.m3u8', '/4.ts']);
  });

  test('a multivariant playlist without resolutions or codecs is ranked by bandwidth', async () => {
    await serve({
      '/master.m3u8':
        '#EXTM3U\n#EXT-X-STREAM-INF:BANDWIDTH=64000\nsound.m3u8\n#EXT-X-STREAM-INF:BANDWIDTH=900000\nlive.m3u8',
      [live]: mediaPlaylist(['4.ts']),
    });
    expect(await stream.moment('/master.m3u8')).toBeCloseTo(8, 0);
  });

  test('a variant may be a multivariant playlist, and that one names video', async () => {
    const variant = '#EXTM3U\n#EXT-X-STREAM-INF:BANDWIDTH=900000\n';
    await serve({
      '/master.m3u8': `${variant}nested.m3u8`,
      '/nested.m3u8': `${variant}live.m3u8`,
      '/endless.m3u8': `${variant}endless.m3u8`,
      [live]: mediaPlaylist(['4.ts']),
    });
    expect(await stream.moment('/master.m3u8')).toBeCloseTo(8, 0);
    expect((await readFailure(stream.probe('/endless.m3u8'))).remediation).toContain('further multivariant');
    expect(playlists().filter((path) => path === '/endless.m3u8')).toHaveLength(3);
  });

  test('a multivariant playlist with audio only is rejected with a reason', async () => {
    await serve({
      '/master.m3u8': '#EXTM3U\n#EXT-X-STREAM-INF:BANDWIDTH=64000,CODECS="mp4a.40.2"\nsound.m3u8',
    });
    expect((await readFailure(stream.probe('/master.m3u8'))).remediation).toContain(
      'no variant stream with video',
    );
  });

  test.each([404, 403, 503])(
    'a multivariant playlist leads to its second server if the first returns %d',
    async (status) => {
      const variant = '#EXT-X-STREAM-INF:BANDWIDTH=900000,RESOLUTION=1280x720';
      await serve(
        {
          '/master.m3u8': `#EXTM3U\n${variant}\nfirst/live.m3u8\n${variant}\nsecond/live.m3u8`,
          '/first/live.m3u8': { status, body: '' },
          '/second/live.m3u8': mediaPlaylist(['/4.ts']),
        },
        unseen,
      );
      await stream.capture('/master.m3u8');
      await stream.capture('/master.m3u8');
      expect(playlists()).toEqual([
        '/master.m3u8',
        '/first/live.m3u8',
        '/second/live.m3u8',
        '/second/live.m3u8',
      ]);
    },
  );

  test('the default rendition of video takes the place of a variant stream whose playlist is gone', async () => {
    const rendition = (uri: string, more = '') =>
      `#EXT-X-MEDIA:TYPE=VIDEO,GROUP-ID="v",NAME="VIDEO=1"${more}${uri}`;
    await serve({
      '/master.m3u8': [
        '#EXTM3U',
        rendition(',URI="side.m3u8"'),
        '#EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID="v",NAME="a",URI="sound.m3u8"',
        '#EXT-X-STREAM-INF:BANDWIDTH=900000,VIDEO="v"',
        'gone.m3u8',
        rendition(',URI="live.m3u8"', ',DEFAULT=YES'),
      ].join('\n'),
      [live]: mediaPlaylist(['4.ts', rendition(',URI="side.m3u8"')]),
    });
    expect(await stream.moment('/master.m3u8')).toBeCloseTo(8, 0);
    expect(playlists()).toEqual(['/master.m3u8', '/gone.m3u8', '/live.m3u8']);
  });

  const [large, small] = ['1280x720', '640x360'].map(
    (size) => `#EXT-X-STREAM-INF:BANDWIDTH=1,RESOLUTION=${size}`,
  );
  const side = '#EXT-X-MEDIA:TYPE=VIDEO,GROUP-ID="v",NAME="Back yard",URI="side.m3u8"';
  test.each([
    ['another camera angle', [side]],
    [
      'one beside a default without a URI',
      [side, '#EXT-X-MEDIA:TYPE=VIDEO,GROUP-ID="v",NAME="a",DEFAULT=YES'],
    ],
    ['a default without a group', [`${side},DEFAULT=YES`.replace('GROUP-ID="v",', '')], ''],
    ['a default, in front of a second server', [`${side},DEFAULT=YES`]],
  ])('a rendition of video displaces no variant stream: %s', async (_, renditions, group = ',VIDEO="v"') => {
    const variants = [large + group, 'first.m3u8', small + group, 'live.m3u8'];
    await serve(
      {
        '/master.m3u8': ['#EXTM3U', ...renditions, ...variants].join('\n'),
        '/first.m3u8': { status: 503, body: '' },
        '/side.m3u8': mediaPlaylist(['3.ts']),
        [live]: mediaPlaylist(['4.ts']),
      },
      unseen,
    );
    await stream.capture('/master.m3u8');
    expect(playlists()).toEqual(['/master.m3u8', '/first.m3u8', '/live.m3u8']);
  });

  test('a query signature does not apply to relative URLs, except through QUERYPARAM', async () => {
    await serve(
      {
        '/master.m3u8':
          '#EXTM3U\n#EXT-X-DEFINE:QUERYPARAM="token"\n#EXT-X-STREAM-INF:BANDWIDTH=1\nplain/live.m3u8',
        '/signed.m3u8':
          '#EXTM3U\n#EXT-X-DEFINE:QUERYPARAM="token"\n#EXT-X-STREAM-INF:BANDWIDTH=1\nplain/live.m3u8?token={$token}',
        '/plain/live.m3u8': mediaPlaylist(['#EXT-X-DEFINE:IMPORT="token"', '/4.ts?token={$token}']),
      },
      unseen,
    );
    await stream.capture('/master.m3u8?token=abc%2Fd');
    await stream.capture('/signed.m3u8?token=abc%2Fd');
    expect(
      stream.requests.filter((path) => !path.startsWith('/master') && !path.startsWith('/signed')),
    ).toEqual([
      '/plain/live.m3u8',
      '/4.ts?token=abc%2Fd',
      '/plain/live.m3u8?token=abc%2Fd',
      '/4.ts?token=abc%2Fd',
    ]);
  });
});

describe('discontinuity', () => {
  test('only segments after a discontinuity are decoded, also with another codec', async () => {
    const other = await record({ codec: 'h265', seconds: 6 });
    await serve({
      [live]: mediaPlaylist(['other.ts', '#EXT-X-DISCONTINUITY', '4.ts', '5.ts']),
      '/back.m3u8': mediaPlaylist(['4.ts', '5.ts', '#EXT-X-DISCONTINUITY', 'other.ts']),
      '/other.ts': other.segments[1]!,
    });
    const clip = { mode: 'clip', clipSeconds: 6 } as const;
    expect(readMoment((await stream.capture(live, clip)).thumbnail)).toBeGreaterThan(11.5);
    expect(await stream.moment('/back.m3u8', clip)).toBeGreaterThan(3.5);
    expect(await stream.moment('/back.m3u8', clip)).toBeLessThan(4.5);
  });

  test('the media initialization section of fMP4 changes at a discontinuity', async () => {
    const before = await record({ segmentType: 'fmp4', seconds: 10 });
    const after = await record({ segmentType: 'fmp4', codec: 'h265', seconds: 6 });
    await serve({
      [live]: mediaPlaylist([
        '#EXT-X-MAP:URI="before.mp4"',
        'before.m4s',
        '#EXT-X-DISCONTINUITY',
        '#EXT-X-MAP:URI="after.mp4"',
        'after.m4s',
      ]),
      '/before.mp4': before.initialization!,
      '/before.m4s': before.segments[4]!,
      '/after.mp4': after.initialization!,
      '/after.m4s': after.segments[2]!,
    });
    expect(await stream.moment(live, { mode: 'clip' })).toBeGreaterThan(5.5);
    expect(stream.requests).not.toContain('/before.m4s');
  });

  test('segments with EXT-X-GAP are omitted', async () => {
    await serve({ [live]: mediaPlaylist(['3.ts', '4.ts', '#EXT-X-GAP', '5.ts']) });
    expect(await stream.moment(live)).toBeCloseTo(8, 0);
    expect(stream.requests).not.toContain('/5.ts');
  });
});

describe('AES-128', () => {
  const [first, second] = [Buffer.alloc(16, 1), Buffer.alloc(16, 2)];
  const sequenceIv = (sequence: number): Buffer =>
    Buffer.from(sequence.toString(16).padStart(32, '0'), 'hex');

  function encrypted(index: number, key: Buffer, iv: Buffer): Buffer {
    const cipher = createCipheriv('aes-128-cbc', key, iv);
    return Buffer.concat([cipher.update(segments[index]!), cipher.final()]);
  }

  test('AES-128 with keys that change within a clip is decrypted, with explicit and implicit vectors', async () => {
    const iv = 'ffeeddccbbaa99887766554433221100';
    await serve({
      [live]: mediaPlaylist(
        [
          '#EXT-X-KEY:METHOD=AES-128,URI="1.key"',
          '4.ts',
          `#EXT-X-KEY:METHOD=AES-128,URI="2.key",IV=0x${iv}`,
          '5.ts',
        ],
        4,
      ),
      '/4.ts': encrypted(4, first, sequenceIv(4)),
      '/5.ts': encrypted(5, second, Buffer.from(iv, 'hex')),
      '/1.key': first,
      '/2.key': second,
    });
    expect(await stream.moment(live, { mode: 'clip' })).toBeGreaterThan(11.5);
  });

  test('an AES-128 segment is decrypted if it has DRM keys too, in any order of the keys', async () => {
    const identity = '#EXT-X-KEY:METHOD=AES-128,URI="1.key"';
    const fairPlay = '#EXT-X-KEY:METHOD=SAMPLE-AES,URI="skd://x",KEYFORMAT="com.apple.streamingkeydelivery"';
    for (const keys of [
      [identity, fairPlay],
      [fairPlay, identity],
    ]) {
      await serve({
        [live]: mediaPlaylist([...keys, '4.ts'], 4),
        '/4.ts': encrypted(4, first, sequenceIv(4)),
        '/1.key': first,
      });
      expect((await stream.probe(live)).platform).toBe('hls');
      expect(await stream.moment(live)).toBeCloseTo(8, 0);
    }
  });

  test('a key is requested once, until a capture fails with it', async () => {
    await serve(
      {
        [live]: mediaPlaylist(['#EXT-X-KEY:METHOD=AES-128,URI="1.key"', '4.ts'], 4),
        '/4.ts': encrypted(4, first, sequenceIv(4)),
        '/1.key': first,
      },
      unseen,
    );
    await stream.capture(live);
    await stream.capture(live);
    expect(stream.requests.filter((path) => path === '/1.key')).toHaveLength(1);
    Object.assign(stream.files, { '/4.ts': encrypted(4, second, sequenceIv(4)), '/1.key': second });
    await readFailure(stream.capture(live));
    const { frame } = await stream.capture(live);
    expect(Buffer.from(frame)).toEqual(extractLastKeyFrame(segments[4]!));
  });

  test.each([
    'METHOD=SAMPLE-AES,URI="skd://x",KEYFORMAT="com.apple.streamingkeydelivery",KEYFORMATVERSIONS="1"',
    'METHOD=SAMPLE-AES-CTR,URI="data:text/plain;base64,AAAA",KEYFORMAT="urn:uuid:edef8ba9-79d6-4ace-a3c8-27dcd51d21ed"',
    'METHOD=SAMPLE-AES,URI="1.key"',
    'METHOD=AES-256,URI="1.key"',
    'METHOD=AES-128',
  ])('encryption with %s is rejected', async (key) => {
    await serve({ [live]: mediaPlaylist([`#EXT-X-KEY:${key}`, '4.ts']) });
    for (const refused of [stream.probe(live), stream.capture(live)]) {
      expect((await readFailure(refused)).remediation).toContain('DRM');
    }
    expect(stream.requests).not.toContain('/1.key');
  });
});

test('a media initialization section is fetched once', async () => {
  const { initialization, segments: parts } = await record({ segmentType: 'fmp4', seconds: 10 });
  await serve(
    {
      [live]: mediaPlaylist(['#EXT-X-MAP:URI="init.mp4"', '4.m4s']),
      '/init.mp4': initialization!,
      '/4.m4s': parts[4]!,
    },
    unseen,
  );
  await stream.capture(live);
  await stream.capture(live, { mode: 'clip' });
  expect(stream.requests.filter((path) => path === '/init.mp4')).toHaveLength(1);
});

describe('low-latency playlist', () => {
  const tags = [
    '#EXT-X-SERVER-CONTROL:CAN-BLOCK-RELOAD=YES,PART-HOLD-BACK=1.5,CAN-SKIP-UNTIL=12',
    '#EXT-X-PART-INF:PART-TARGET=0.5',
  ];

  test('a low-latency playlist is captured from its newest whole segment', async () => {
    await serve({
      [live]: mediaPlaylist([
        ...tags,
        '3.ts',
        '#EXT-X-PART:DURATION=0.5,URI="4.0.ts",INDEPENDENT=YES',
        '#EXT-X-PART:DURATION=0.5,URI="4.1.ts"',
        '4.ts',
        '#EXT-X-PART:DURATION=0.5,URI="5.0.ts",INDEPENDENT=YES',
        '#EXT-X-PRELOAD-HINT:TYPE=PART,URI="5.1.ts"',
        '#EXT-X-RENDITION-REPORT:URI="../other/live.m3u8",LAST-MSN=5,LAST-PART=0',
      ]),
    });
    expect(await stream.moment(live)).toBeCloseTo(8, 0);
    expect(stream.requests).toEqual([live, '/4.ts']);
  });

  test('a delta update is numbered correctly', async () => {
    await serve(
      {
        [live]: mediaPlaylist([...tags, '#EXT-X-SKIP:SKIPPED-SEGMENTS=3', '3.ts', '4.ts']),
        '/whole.m3u8': mediaPlaylist([...tags, '0.ts', '1.ts', '2.ts', '3.ts', '4.ts']),
      },
      unseen,
    );
    const whole = await stream.capture('/whole.m3u8');
    expect(await position()).toBe(whole.position.segment);
  });
});

describe('program date-time', () => {
  const at = (time: string): string => `#EXT-X-PROGRAM-DATE-TIME:${time}`;
  const takenAt = async (): Promise<string> => (await stream.capture(live)).capturedAt.toISOString();

  test.each([
    ['on every segment', [at('2026-11-20T11:59:40.250Z'), '3.ts', at('2026-11-20T11:59:42.250Z'), '4.ts']],
    ['on the first segment only', [at('2026-11-20T11:59:40.250+00:00'), '3.ts', '4.ts']],
    ['in the format of ffmpeg', [at('2026-11-20T12:59:40.250+0100'), '3.ts', '4.ts']],
    ['with a jump', [at('2026-11-20T09:00:00Z'), '3.ts', at('2026-11-20T11:59:42.250Z'), '4.ts']],
    ['with a damaged later value', [at('2026-11-20T11:59:40.250Z'), '3.ts', at('yesterday'), '4.ts']],
  ])('a program date-time %s dates the capture', async (_case, lines) => {
    await serve({ [live]: mediaPlaylist(lines) }, unseen);
    expect(await takenAt()).toBe('2026-11-20T11:59:42.250Z');
  });

  test.each([
    ['MPEG-TS', {}],
    ['fMP4', { segmentType: 'fmp4' }],
  ] as const)('a frame is dated by its key frame, not by its segment (%s)', async (_format, options) => {
    const { initialization, segments: parts } = await record({
      keyFrameSeconds: 0.5,
      seconds: 6,
      ...options,
    });
    await serve({
      [live]: mediaPlaylist([
        ...(initialization ? ['#EXT-X-MAP:URI="init.mp4"'] : []),
        at('2026-11-20T11:59:42Z'),
        initialization ? 'part.m4s' : 'part.ts',
      ]),
      '/init.mp4': initialization ?? '',
      '/part.m4s': parts[2]!,
      '/part.ts': parts[2]!,
    });
    const { capturedAt, thumbnail } = await stream.capture(live);
    expect(readMoment(thumbnail)).toBeGreaterThan(5.2);
    expect(capturedAt.toISOString()).toBe('2026-11-20T11:59:43.500Z');
  });

  test('a frame is dated by the earlier segment that contains it', async () => {
    const rare = await record({ keyFrameSeconds: 6, seconds: 12 });
    await serve({
      [live]: mediaPlaylist([at('2026-11-20T11:59:40Z'), 'a.ts', 'b.ts', 'c.ts']),
      ...Object.fromEntries(['a', 'b', 'c'].map((name, index) => [`/${name}.ts`, rare.segments[index]!])),
    });
    const { capturedAt, thumbnail } = await stream.capture(live);
    expect(readMoment(thumbnail)).toBeCloseTo(0, 0);
    expect(capturedAt.toISOString()).toBe('2026-11-20T11:59:40.000Z');
  });

  test.each([
    ['that is absent', ['4.ts']],
    ['from before a discontinuity', [at('2026-11-20T11:59:40Z'), '3.ts', '#EXT-X-DISCONTINUITY', '4.ts']],
    ['of another year', [at('2024-11-20T11:59:40Z'), '4.ts']],
    ['of tomorrow', [at('2026-11-21T11:00:00Z'), '4.ts']],
    ['one hour ahead, without its time zone', [at('2026-11-20T13:00:00Z'), '4.ts']],
  ])('a program date-time %s is replaced by the time of the capture', async (_case, lines) => {
    await serve({ [live]: mediaPlaylist(lines) }, unseen);
    expect(await takenAt()).toBe('2026-11-20T12:00:00.000Z');
  });
});
