import { array, assert, constantFrom, oneof, property, string } from 'fast-check';
import { describe, expect, test } from 'vitest';
import { PlaylistError, type MediaPlaylist } from '../../../../../adapters/media/hls/playlist/playlist.ts';
import { parsePlaylist } from '../../../../support/hls/parse-playlist.ts';

const base = 'https://cdn.example/live/list.m3u8?token=1';

function parse(text: string, url = base) {
  return parsePlaylist(Buffer.from(text), url);
}

function media(lines: string): MediaPlaylist {
  const playlist = parse(
    `#EXTM3U\n#EXT-X-VERSION:7\n#EXT-X-TARGETDURATION:4\n#EXT-X-MEDIA-SEQUENCE:100\n${lines}`,
  );
  if (playlist.kind !== 'media') throw new Error('No media playlist');
  return playlist;
}

describe('media playlist', () => {
  test('a media playlist has numbered segments with absolute URLs', () => {
    const { segments, targetSeconds, endList, playlistType } = media(
      '#EXTINF:3.9,\na.ts?x=1\n#EXTINF:4,\n/b.ts\n#EXTINF:4,\nhttps://other.example/c.ts\n',
    );
    expect(segments.map(({ sequence, url, durationSeconds }) => [sequence, url, durationSeconds])).toEqual([
      [100n, 'https://cdn.example/live/a.ts?x=1', 3.9],
      [101n, 'https://cdn.example/b.ts', 4],
      [102n, 'https://other.example/c.ts', 4],
    ]);
    expect({ targetSeconds, endList, playlistType }).toEqual({
      targetSeconds: 4,
      endList: false,
      playlistType: null,
    });
  });

  test('relative URLs inherit the credentials of the playlist, absolute ones do not', () => {
    const text = '#EXTM3U\n#EXT-X-TARGETDURATION:4\n#EXTINF:4,\na.ts\n#EXTINF:4,\nhttps://other.example/b.ts';
    const playlist = parse(text, 'https://me:secret@cdn.example/list.m3u8');
    expect(playlist.kind === 'media' && playlist.segments.map(({ url }) => url)).toEqual([
      'https://me:secret@cdn.example/a.ts',
      'https://other.example/b.ts',
    ]);
  });

  test('a media playlist has its end and its type', () => {
    expect(media('#EXT-X-PLAYLIST-TYPE:VOD\n#EXTINF:4,\na.ts\n#EXT-X-ENDLIST')).toMatchObject({
      endList: true,
      playlistType: 'VOD',
    });
    expect(media('#EXT-X-PLAYLIST-TYPE:EVENT\n#EXTINF:4,\na.ts')).toMatchObject({
      endList: false,
      playlistType: 'EVENT',
    });
  });

  test('a byte range without an offset continues the previous segment', () => {
    const { segments } = media(
      '#EXT-X-BYTERANGE:100@50\n#EXTINF:4,\nall.ts\n#EXT-X-BYTERANGE:70\n#EXTINF:4,\nall.ts',
    );
    expect(segments.map(({ byteRange }) => byteRange)).toEqual([
      { offset: 50, length: 100 },
      { offset: 150, length: 70 },
    ]);
  });

  test('a first byte range without an offset starts at 0', () => {
    const { segments } = media(
      '#EXT-X-MAP:URI="init.mp4",BYTERANGE="700"\n#EXT-X-BYTERANGE:70\n#EXTINF:4,\na.m4s\n#EXT-X-BYTERANGE:80\n#EXTINF:4,\nb.m4s',
    );
    expect(segments[0]?.initialization?.byteRange).toEqual({ offset: 0, length: 700 });
    expect(segments.map(({ byteRange }) => byteRange)).toEqual([
      { offset: 0, length: 70 },
      { offset: 0, length: 80 },
    ]);
  });

  test('an initialization vector without leading zeros is padded', () => {
    const { segments } = media('#EXT-X-KEY:METHOD=AES-128,URI="k",IV=0x1F\n#EXTINF:4,\na.ts');
    expect(segments[0]?.key).toMatchObject({ iv: Uint8Array.from([...Array<number>(15).fill(0), 0x1f]) });
  });

  test.each(['', '3.0', '99', 'abc', '-1', '3\n#EXT-X-VERSION:4'])(
    'a media playlist is read with any version: %j',
    (version) => {
      const playlist = parse(
        `#EXTM3U\n#EXT-X-VERSION:${version}\n#EXT-X-TARGETDURATION:4.2\n#EXT-X-MAP:URI="i.mp4"\n#EXTINF:9.5,\na.m4s`,
      );
      expect(playlist.kind === 'media' && playlist.segments).toHaveLength(1);
    },
  );

  test('a media playlist is read with a byte order mark, CRLF, spaces, comments, unknown tags and without commas', () => {
    const playlist = parse(
      '\ufeff  #EXTM3U url-tvg="x"\r\n# a comment\r\n#EXT-X-TARGETDURATION: 4 \r\n\r\n#EXT-X-NEW-AND-UNKNOWN:A="b"\r\n#EXT-X-DATERANGE:ID="x",START-DATE="bad"\r\n #EXTINF: 4 \r\n#EXT-OATCLS-SCTE35:x\r\n  a.ts  \r\n',
    );
    expect(playlist.kind === 'media' && playlist.segments.map(({ url }) => url)).toEqual([
      'https://cdn.example/live/a.ts',
    ]);
  });

  test.each([
    ['the zeros of a string in C behind it', '#EXTM3U\n#EXTINF:4,\na.ts\0\0'],
    ['lines that end with a carriage return', '#EXTM3U\r#EXTINF:4,\ra.ts\r'],
  ])('a media playlist is read with %s', (_kind, text) => {
    expect(parse(text)).toMatchObject({ segments: [{ url: 'https://cdn.example/live/a.ts' }] });
  });

  test.each(['SAMPLE-AES', 'SAMPLE-AES-CTR', 'AES-256', 'ISO-23001-7', 'NEW'])(
    '%s is an unsupported key method',
    (method) => {
      const { segments } = media(`#EXT-X-KEY:METHOD=${method},URI="k"\n#EXTINF:4,\na.ts`);
      expect(segments[0]?.key).toEqual({ method: 'unsupported' });
    },
  );

  test('each segment has the media initialization section and key in force', () => {
    const { segments } = media(
      [
        '#EXT-X-MAP:URI="init.mp4",BYTERANGE="700@0"',
        '#EXT-X-KEY:METHOD=AES-128,URI="key?1",IV=0x000102030405060708090a0b0c0d0e0f',
        '#EXTINF:4,\na.m4s\n#EXTINF:4,\nb.m4s',
        '#EXT-X-KEY:METHOD=NONE\n#EXTINF:4,\nc.m4s',
        '#EXT-X-KEY:METHOD=SAMPLE-AES,URI="skd://x",KEYFORMAT="com.apple.streamingkeydelivery"\n#EXTINF:4,\nd.m4s',
      ].join('\n'),
    );
    expect(segments[1]).toMatchObject({
      initialization: { url: 'https://cdn.example/live/init.mp4', byteRange: { offset: 0, length: 700 } },
      key: {
        method: 'AES-128',
        url: 'https://cdn.example/live/key?1',
        iv: Uint8Array.from({ length: 16 }, (_, i) => i),
      },
    });
    expect(segments[2]?.key).toBeNull();
    expect(segments[3]?.key).toEqual({ method: 'unsupported' });
  });

  const identityKey = '#EXT-X-KEY:METHOD=AES-128,URI="https://keys.example/1",IV=0x1';
  const fairPlayKey =
    '#EXT-X-KEY:METHOD=SAMPLE-AES,URI="skd://x?a=1,METHOD=NONE",KEYFORMAT="com.apple.streamingkeydelivery",KEYFORMATVERSIONS="1"';
  const widevineKey =
    '#EXT-X-KEY:METHOD=AES-128,URI="data:text/plain;base64,AA==",KEYFORMAT="urn:uuid:edef8ba9-79d6-4ace-a3c8-27dcd51d21ed"';
  const rotatedFairPlayKey = fairPlayKey.replace('skd://x', 'skd://y');

  test.each([
    [[identityKey, fairPlayKey, widevineKey]],
    [[fairPlayKey, identityKey, widevineKey]],
    [[widevineKey, fairPlayKey, identityKey]],
    [[fairPlayKey, '#EXT-X-MAP:URI="init.mp4"', identityKey]],
    [[`${identityKey},KEYFORMAT="identity"`, widevineKey]],
  ])('the parser reads the AES-128 key of segments that also have DRM keys, in any order', (keys) => {
    for (const older of ['', '#EXTINF:4,\nolder.ts\n'.repeat(70)]) {
      const { segments } = media(`${keys.join('\n')}\n${older}#EXTINF:4,\na.ts\n#EXTINF:4,\nb.ts`);
      expect(new Set(segments.map(({ key }) => key?.method === 'AES-128' && key.url))).toEqual(
        new Set(['https://keys.example/1']),
      );
    }
  });

  test('further URIs of a segment are left out, and METHOD=none is no key', () => {
    const { segments } = media('#EXT-X-KEY:METHOD=none\n#EXTINF:4,\na.ts\nb.ts\n#EXTINF:4,\nc.ts\nd.ts');
    expect(segments.map(({ url, key }) => [url.slice(-4), key])).toEqual([
      ['a.ts', null],
      ['c.ts', null],
    ]);
  });

  test('a key applies until the next one of its format, and no key applies after METHOD=NONE', () => {
    const { segments } = media(
      [
        [fairPlayKey, identityKey, '#EXTINF:4,', 'a.ts'],
        [rotatedFairPlayKey, '#EXTINF:4,', 'b.ts'],
        [identityKey.replace('/1', '/2'), '#EXTINF:4,', 'c.ts'],
        ['#EXT-X-KEY:METHOD=NONE', '#EXTINF:4,', 'd.ts'],
        [fairPlayKey, '#EXTINF:4,', 'e.ts'],
        ['#EXTINF:4,', 'f.ts'],
        ['#EXT-X-KEY:METHOD=SAMPLE-AES,URI="k"', '#EXTINF:4,', 'g.ts'],
      ]
        .flat()
        .join('\n'),
    );
    const keys = segments.map(({ key }) => (key?.method === 'AES-128' ? key.url : (key?.method ?? null)));
    expect(keys).toEqual([
      'https://keys.example/1',
      'https://keys.example/1',
      'https://keys.example/2',
      null,
      'unsupported',
      'unsupported',
      'unsupported',
    ]);
  });

  test.each([
    ['9007199254740993', 9_007_199_254_740_993n],
    ['18446744073709551615', 18_446_744_073_709_551_615n],
    [' 0007 ', 7n],
    ['-3', -3n],
    ['2.5', 2n],
    ['NaN', 0n],
    ['9'.repeat(30_000), 0n],
  ])('the parser numbers segments from %.20s without losing a digit', (first, sequence) => {
    const numbered = (segments: number): bigint[] => {
      const text = '#EXTINF:4,\na.ts\n'.repeat(segments);
      const playlist = parse(`#EXTM3U\n#EXT-X-TARGETDURATION:4\n#EXT-X-MEDIA-SEQUENCE:${first}\n${text}`);
      return playlist.kind === 'media' ? playlist.segments.map((segment) => segment.sequence) : [];
    };
    expect(numbered(3)).toEqual([sequence, sequence + 1n, sequence + 2n]);
    expect(numbered(100).at(0)).toBe(sequence + 36n);
    expect(numbered(100).at(-1)).toBe(sequence + 99n);
  });

  test('the program date-time continues over segments and ends at a discontinuity', () => {
    const { segments } = media(
      '#EXT-X-PROGRAM-DATE-TIME:2026-11-20T12:00:00.500+01:00\n#EXTINF:4,\na.ts\n#EXTINF:3.5,\nb.ts\n#EXTINF:4,\nc.ts\n#EXT-X-DISCONTINUITY\n#EXTINF:4,\nd.ts\n#EXT-X-PROGRAM-DATE-TIME:whenever\n#EXTINF:4,\ne.ts',
    );
    expect(segments.map(({ startsAt }) => startsAt?.toISOString() ?? null)).toEqual([
      '2026-11-20T11:00:00.500Z',
      '2026-11-20T11:00:04.500Z',
      '2026-11-20T11:00:08.000Z',
      null,
      null,
    ]);
    expect(segments.map(({ discontinuity }) => discontinuity)).toEqual([false, false, false, true, false]);
  });

  test('a segment with EXT-X-GAP is a gap', () => {
    expect(media('#EXT-X-GAP\n#EXTINF:4,\na.ts\n#EXTINF:4,\nb.ts').segments.map(({ gap }) => gap)).toEqual([
      true,
      false,
    ]);
  });

  test.each([
    '#EXT-X-PROGRAM-DATE-TIME:2026-11-20T12:00:00Z\n',
    '#EXT-X-DISCONTINUITY\n#EXT-X-MAP:URI="b.mp4"\n',
    '#EXT-X-KEY:METHOD=AES-128,URI="k"\n#EXT-X-GAP\n',
    '#EXTINF:4,\n#EXT-X-BYTERANGE:5@0\n',
  ])('low-latency parts and the tags of their segment are omitted: %j', (tags) => {
    const { segments, endList } = media(
      `#EXT-X-SERVER-CONTROL:CAN-BLOCK-RELOAD=YES,PART-HOLD-BACK=1.5\n#EXT-X-PART-INF:PART-TARGET=0.5\n#EXT-X-MAP:URI="a.mp4"\n#EXTINF:4,\na.ts\n${tags}#EXT-X-PART:DURATION=0.5,URI="b.0.ts"\n#EXT-X-PRELOAD-HINT:TYPE=PART,URI="b.1.ts"\n#EXT-X-ENDLIST`,
    );
    expect(segments.map(({ url }) => url)).toEqual(['https://cdn.example/live/a.ts']);
    expect(endList).toBe(true);
  });

  test('titles in every script are read, which the parser does not support', () => {
    expect(media('#EXTINF:4,Café 東京 100%\na.ts').segments).toHaveLength(1);
  });

  test('the newest of very many segments are kept quickly', () => {
    const lines = Array.from({ length: 20_000 }, (_, index) => `#EXTINF:4,\n${index}.ts`).join('\n');
    const startedMs = performance.now();
    const { segments } = media(lines);
    expect(performance.now() - startedMs).toBeLessThan(5000);
    expect(segments).toHaveLength(64);
    expect(segments.at(-1)?.sequence).toBe(20_099n);
  });

  test.each([
    [
      'a key of 40,000 characters',
      `#EXT-X-KEY:METHOD=NONE,KEYFORMAT="${'x'.repeat(40_000)}"\n#EXTINF:2,\na.ts`,
    ],
    ['an address of 40,000 characters', `#EXTINF:2,\n${'a'.repeat(40_000)}.ts`],
    ['20,001 keys', '#EXT-X-KEY:METHOD=NONE\na.ts\n'.repeat(20_001)],
    ['half a million comments', '#x\n'.repeat(500_001)],
    ['half a million empty lines', '\n'.repeat(500_001)],
    ['newest segments of 2 MB', `#EXTINF:2,\n${'a'.repeat(32_760)}.ts\n`.repeat(65)],
    [
      '100,001 references to variables',
      `#EXT-X-DEFINE:NAME="a",VALUE="b"\n${`#EXTINF:2,\n${'{$a}'.repeat(100)}.ts\n`.repeat(1001)}`,
    ],
  ])('a playlist with %s is refused', (_, lines) => {
    expect(() => media(`${lines}\n`)).toThrow(PlaylistError);
  });

  test('comments of any length are left out', () => {
    expect(media(`#${'x'.repeat(100_000)}\n#EXTINF:2,\na.ts`).segments).toHaveLength(1);
  });

  test('a missing target duration is replaced by the longest segment', () => {
    expect(parse('#EXTM3U\n#EXTINF:3,\na.ts\n#EXTINF:5,\nb.ts')).toMatchObject({ targetSeconds: 5 });
  });

  test('a media playlist may be empty', () => {
    expect(media('').segments).toEqual([]);
  });
});

describe('multivariant playlist', () => {
  test('a multivariant playlist lists its variant streams', () => {
    const playlist = parse(
      '\ufeff#EXTM3U\r\n#EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID="a",NAME="Ton",URI="a.m3u8"\r\n#EXT-X-STREAM-INF:BANDWIDTH=900000,RESOLUTION=640x360,CODECS="avc1.4d401e,mp4a.40.2",AUDIO="a"\r\nlow.m3u8\r\n#EXT-X-STREAM-INF:BANDWIDTH=64000\r\n../sound.m3u8\r\n#EXT-X-I-FRAME-STREAM-INF:BANDWIDTH=1,URI="i.m3u8"\r\n',
    );
    expect(playlist).toEqual({
      kind: 'multivariant',
      url: base,
      variables: new Map(),
      variants: [
        {
          url: 'https://cdn.example/live/low.m3u8',
          bandwidth: 900_000,
          resolution: { width: 640, height: 360 },
          codecs: 'avc1.4d401e,mp4a.40.2',
        },
        { url: 'https://cdn.example/sound.m3u8', bandwidth: 64_000, resolution: null, codecs: null },
      ],
    });
  });

  test('a multivariant playlist of absurd length is read quickly', () => {
    const lines = Array.from(
      { length: 40_000 },
      (_, index) => `#EXT-X-STREAM-INF:BANDWIDTH=${index}\n${index}.m3u8`,
    );
    const startedMs = performance.now();
    const playlist = parse(`#EXTM3U\n${lines.join('\n')}`);
    expect(performance.now() - startedMs).toBeLessThan(5000);
    expect(playlist.kind === 'multivariant' && playlist.variants.length).toBe(200);
  });

  test('renditions of video may be many, and with the variant streams are 200 at most', () => {
    const renditions = Array.from(
      { length: 300 },
      (_, index) =>
        `#EXT-X-MEDIA:TYPE=VIDEO,GROUP-ID="${index}",NAME="a",DEFAULT=YES,URI="side-${index}.m3u8"`,
    );
    const variants = Array.from(
      { length: 150 },
      (_, index) => `#EXT-X-STREAM-INF:BANDWIDTH=1,VIDEO="${index}"\n${index}.m3u8`,
    );
    const playlist = parse(['#EXTM3U', ...renditions, ...variants].join('\n'));
    const found = playlist.kind === 'multivariant' ? playlist.variants : [];
    expect([found.length, found.filter(({ isRendition }) => isRendition).length]).toEqual([200, 50]);
  });

  test('a rendition with a name of 40 kB is left out, and its variant stream is read', () => {
    const name = 'x'.repeat(40_000);
    const playlist = parse(
      `#EXTM3U\n#EXT-X-MEDIA:TYPE=VIDEO,GROUP-ID="v",NAME="${name}",DEFAULT=YES,URI="side.m3u8"\n#EXT-X-STREAM-INF:BANDWIDTH=1,VIDEO="v"\na.m3u8`,
    );
    expect(playlist.kind === 'multivariant' && playlist.variants).toMatchObject([{ bandwidth: 1 }]);
  });
});

describe('invalid playlist', () => {
  test.each(['', '<html>', 'EXTM3U', '#EXTM3UX', '\u0000\u0001'])('%j is rejected as a playlist', (text) => {
    expect(() => parse(text)).toThrow(PlaylistError);
  });

  test('a playlist with an unreadable URL or tag is rejected', () => {
    expect(() => media('#EXTINF:4,\nhttp://[broken')).toThrow(PlaylistError);
    expect(() => parse('#EXTM3U\n#EXT-X-STREAM-INF:BANDWIDTH=1\n')).toThrow(PlaylistError);
    expect(() => parse('#EXTM3U\n#EXT-X-STREAM-INF:BANDWIDTH=1\na\n#EXTINF:1,\nb.ts')).not.toThrow(TypeError);
  });

  test('parsePlaylist returns a playlist or throws PlaylistError for any text', () => {
    const line = oneof(
      constantFrom(
        '#EXTINF:2,',
        '#EXTINF:',
        '#EXT-X-KEY:METHOD=AES-128',
        '#EXT-X-KEY',
        '#EXT-X-MAP:URI="x"',
        '#EXT-X-MAP:',
        '#EXT-X-BYTERANGE:5',
        '#EXT-X-BYTERANGE:@',
        '#EXT-X-STREAM-INF:BANDWIDTH=1',
        '#EXT-X-STREAM-INF:RESOLUTION=x',
        '#EXT-X-ENDLIST',
        '#EXT-X-MEDIA-SEQUENCE:-1',
        '#EXT-X-TARGETDURATION:x',
        '#EXT-X-PROGRAM-DATE-TIME:',
        'a.ts',
      ),
      string(),
    );
    assert(
      property(array(line), (lines) => {
        try {
          parse(`#EXTM3U\n${lines.join('\n')}`);
        } catch (error) {
          expect(error).toBeInstanceOf(PlaylistError);
        }
      }),
    );
  });
});
