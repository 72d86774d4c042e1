import fc from 'fast-check';
import { anyText } from '../../support/any-text.ts';

/** URIs, a third of which lead to forbidden addresses. */
const uri = fc.oneof(
  fc.constantFrom(
    'a.ts',
    'b.m4s',
    'c.m3u8',
    '/d.ts?x=1',
    '//public.example/e.ts',
    'https://public.example/f.ts',
    '{$v}',
    '',
  ),
  fc.constantFrom(
    ...'http://127.0.0.1/a http://[::1]/a http://0x7f.1/a http://inside.example/a //localhost/a file:///etc/passwd'.split(
      ' ',
    ),
    ...'data:,a concat:a|b http:\\\\127.0.0.1 http://169.254.169.254/ rtsp://public.example/ http://public.example@10.0.0.1/'.split(
      ' ',
    ),
  ),
  anyText({ maxLength: 20 }),
);

const number = fc.oneof(
  fc.constantFrom(
    '2',
    '2.5',
    '0',
    '-1',
    '1e9',
    '1e400',
    'NaN',
    'Infinity',
    '0x10',
    '',
    '9007199254740993',
    '-0',
  ),
  fc.double().map(String),
  fc.nat().map(String),
);

const name = fc.constantFrom('v', 'w', 'a b', '', '__proto__', 'constructor');
const yesNo = fc.constantFrom('YES', 'NO', 'maybe');

const line: fc.Arbitrary<string> = fc.oneof(
  { weight: 6, arbitrary: fc.tuple(number, uri).map(([seconds, to]) => `#EXTINF:${seconds},\n${to}`) },
  { weight: 2, arbitrary: uri },
  fc
    .tuple(number, uri)
    .map(([bandwidth, to]) => `#EXT-X-STREAM-INF:BANDWIDTH=${bandwidth},RESOLUTION=1280x720\n${to}`),
  fc
    .tuple(number, number)
    .map(([w, h]) => `#EXT-X-STREAM-INF:BANDWIDTH=1,RESOLUTION=${w}x${h},CODECS="avc1"`),
  fc
    .tuple(fc.constantFrom('AES-128', 'NONE', 'SAMPLE-AES', '', 'aes'), uri, number)
    .map(([method, to, iv]) => `#EXT-X-KEY:METHOD=${method},URI="${to}",IV=0x${iv}`),
  uri.map((to) => `#EXT-X-KEY:METHOD=AES-128,URI="${to}"`),
  fc
    .tuple(uri, number, number)
    .map(([to, length, offset]) => `#EXT-X-MAP:URI="${to}",BYTERANGE="${length}@${offset}"`),
  uri.map((to) => `#EXT-X-MAP:URI="${to}"`),
  fc.tuple(number, number).map(([length, offset]) => `#EXT-X-BYTERANGE:${length}@${offset}`),
  number.map((length) => `#EXT-X-BYTERANGE:${length}`),
  fc.tuple(name, uri).map(([key, value]) => `#EXT-X-DEFINE:NAME="${key}",VALUE="${value}"`),
  name.map((key) => `#EXT-X-DEFINE:QUERYPARAM="${key}"`),
  name.map((key) => `#EXT-X-DEFINE:IMPORT="${key}"`),
  number.map((count) => `#EXT-X-MEDIA-SEQUENCE:${count}`),
  number.map((seconds) => `#EXT-X-TARGETDURATION:${seconds}`),
  number.map((count) => `#EXT-X-SKIP:SKIPPED-SEGMENTS=${count}`),
  fc
    .oneof(fc.constant('2026-11-20T12:00:00Z'), fc.string(), number)
    .map((date) => `#EXT-X-PROGRAM-DATE-TIME:${date}`),
  fc.constantFrom(
    '#EXT-X-DISCONTINUITY',
    '#EXT-X-GAP',
    '#EXT-X-ENDLIST',
    '#EXTM3U',
    '#EXT-X-PLAYLIST-TYPE:EVENT',
  ),
  fc.constantFrom(
    '#EXT-X-VERSION:7',
    '#EXT-X-VERSION:',
    '#EXT-X-PLAYLIST-TYPE:VOD',
    '#',
    '',
    '#EXT-X-I-FRAMES-ONLY',
  ),
  fc
    .tuple(uri, yesNo)
    .map(([to, yes]) => `#EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID="a",NAME="a",DEFAULT=${yes},URI="${to}"`),
  uri.map((to) => `#EXT-X-PART:DURATION=1,URI="${to}"`),
  uri.map((to) => `#EXT-X-PRELOAD-HINT:TYPE=PART,URI="${to}"`),
  anyText().map((text) => `#EXT-X-${text}`),
  anyText(),
);

/** Playlists that follow the grammar, with arbitrary values and some damaged text. */
export const playlists: fc.Arbitrary<string> = fc
  .record({
    lines: fc.array(line, { maxLength: 40 }),
    repeated: fc.constantFrom(1, 1, 1, 2, 60),
    ending: fc.constantFrom('\n', '\n', '\n', '\r\n', '\r', '\n\n'),
    cut: fc.option(fc.nat(400), { freq: 5 }),
  })
  .map(({ lines, repeated, ending, cut }) => {
    const body = Array.from({ length: repeated }, () => lines).flat();
    const text = ['#EXTM3U', '#EXT-X-TARGETDURATION:2', ...body].join(ending);
    return cut === null ? text : text.slice(0, text.length - cut);
  });
