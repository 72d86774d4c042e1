import type { HostileFile, Site } from './vector.ts';

/** URIs of a playlist that lead to an internal address, a file, or another protocol. */
const targets =
  `http://127.0.0.1:{port}/x.ts https://localhost:{port}/x.ts http://[::1]:{port}/x.ts http://0x7f.1:{port}/x
  //127.0.0.1:{port}/x.ts \\\\127.0.0.1:{port}\\x http://{self}@127.0.0.1:{port}/ http://inside.example:{port}/x
  http://169.254.169.254/latest/meta-data/ http://127.0.0.1:9001/2018-06-01/runtime/invocation/next file://{file} {file}
  ../../../../../../../..{file} data:video/mp2t;base64,R0AAEAAAsA0AAcEAAAAB8AAqsQSy concat:{file}|{file} crypto+file:{file}
  crypto+http://127.0.0.1:{port}/x subfile,,start,0,end,0,,:{file} udp://127.0.0.1:{port} tcp://127.0.0.1:{port}
  rtsp://127.0.0.1:{port}/cam`
    .trim()
    .split(/\s+/);

const maxTelling = ['http://127.0.0.1:{port}/x.ts', 'file://{file}'];

/** Positions of URIs in playlists that captures read. */
const followed: Record<string, (uri: string) => Record<string, HostileFile>> = {
  segment: (uri) => live('#EXTINF:2,', uri),
  variant: (uri) => master('#EXT-X-STREAM-INF:BANDWIDTH=1,RESOLUTION=1280x720', uri),
  key: (uri) => live(`#EXT-X-KEY:METHOD=AES-128,URI="${uri}"`, '#EXTINF:2,', 'ok.ts'),
  init: (uri) => live(`#EXT-X-MAP:URI="${uri}"`, '#EXTINF:2,', 'ok.m4s'),
  'byte range': (uri) => live('#EXT-X-BYTERANGE:188@0', '#EXTINF:2,', uri),
  'segment of a variant': (uri) => ({
    ...master('#EXT-X-STREAM-INF:BANDWIDTH=1', 'inner.m3u8'),
    'inner.m3u8': text('#EXTINF:2,', uri),
  }),
};

/** Positions of URIs that the standard allows and captures do not use, and others. */
const passedOver: Record<string, (uri: string) => Record<string, HostileFile>> = {
  'byte range of an init': (uri) => live(`#EXT-X-MAP:URI="${uri}",BYTERANGE="100@0"`, '#EXTINF:2,', 'ok.m4s'),
  'key of an init': (uri) =>
    live(
      `#EXT-X-KEY:METHOD=AES-128,URI="${uri}",IV=0x01`,
      '#EXT-X-MAP:URI="init.mp4"',
      '#EXTINF:2,',
      'ok.m4s',
    ),
  'second key': (uri) =>
    live(
      '#EXT-X-KEY:METHOD=AES-128,URI="key"',
      `#EXT-X-KEY:METHOD=SAMPLE-AES,URI="${uri}",KEYFORMAT="com.apple"`,
      '#EXTINF:2,',
      'ok.ts',
    ),
  audio: (uri) =>
    master(
      `#EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID="a",NAME="a",DEFAULT=YES,URI="${uri}"`,
      '#EXT-X-STREAM-INF:BANDWIDTH=1,AUDIO="a"',
      'ok.m3u8',
    ),
  subtitles: (uri) =>
    master(
      `#EXT-X-MEDIA:TYPE=SUBTITLES,GROUP-ID="s",NAME="s",URI="${uri}"`,
      '#EXT-X-STREAM-INF:BANDWIDTH=1,SUBTITLES="s"',
      'ok.m3u8',
    ),
  'I-frame list': (uri) =>
    master(`#EXT-X-I-FRAME-STREAM-INF:BANDWIDTH=1,URI="${uri}"`, '#EXT-X-STREAM-INF:BANDWIDTH=1', 'ok.m3u8'),
  'image list': (uri) =>
    master(`#EXT-X-IMAGE-STREAM-INF:BANDWIDTH=1,URI="${uri}"`, '#EXT-X-STREAM-INF:BANDWIDTH=1', 'ok.m3u8'),
  'session key': (uri) =>
    master(`#EXT-X-SESSION-KEY:METHOD=AES-128,URI="${uri}"`, '#EXT-X-STREAM-INF:BANDWIDTH=1', 'ok.m3u8'),
  'session data': (uri) =>
    master(`#EXT-X-SESSION-DATA:DATA-ID="a",URI="${uri}"`, '#EXT-X-STREAM-INF:BANDWIDTH=1', 'ok.m3u8'),
  'content steering': (uri) =>
    master(
      `#EXT-X-CONTENT-STEERING:SERVER-URI="${uri}",PATHWAY-ID="a"`,
      '#EXT-X-STREAM-INF:BANDWIDTH=1,PATHWAY-ID="a"',
      'ok.m3u8',
    ),
  'date range with an asset': (uri) =>
    live(
      `#EXT-X-DATERANGE:ID="a",CLASS="com.apple.hls.interstitial",START-DATE="2026-11-20T12:00:00Z",X-ASSET-URI="${uri}",X-ASSET-LIST="${uri}"`,
      '#EXTINF:2,',
      'ok.ts',
    ),
  'preload hint': (uri) => live('#EXTINF:2,', 'ok.ts', `#EXT-X-PRELOAD-HINT:TYPE=PART,URI="${uri}"`),
  'preload hint of an init': (uri) =>
    live('#EXTINF:2,', 'ok.ts', `#EXT-X-PRELOAD-HINT:TYPE=MAP,URI="${uri}"`),
  'rendition report': (uri) => live('#EXTINF:2,', 'ok.ts', `#EXT-X-RENDITION-REPORT:URI="${uri}",LAST-MSN=1`),
  part: (uri) => live('#EXTINF:2,', 'ok.ts', `#EXT-X-PART:DURATION=1,URI="${uri}"`),
  prefetch: (uri) => live('#EXTINF:2,', 'ok.ts', `#EXT-X-PREFETCH:${uri}`),
  asset: (uri) => live(`#EXT-X-ASSET:CAID=0x1,URI="${uri}"`, '#EXTINF:2,', 'ok.ts'),
  'title of a segment': (uri) => live(`#EXTINF:2,${uri}`, 'ok.ts'),
  'variable of a whole URI': (uri) => live(`#EXT-X-DEFINE:NAME="v",VALUE="${uri}"`, '#EXTINF:2,', '{$v}'),
  'imported variable': (uri) => ({
    ...master(`#EXT-X-DEFINE:NAME="v",VALUE="${uri}"`, '#EXT-X-STREAM-INF:BANDWIDTH=1', 'inner.m3u8'),
    'inner.m3u8': text('#EXT-X-DEFINE:IMPORT="v"', '#EXTINF:2,', '{$v}'),
  }),
  'variable in a key': (uri) =>
    live(
      `#EXT-X-DEFINE:NAME="v",VALUE="${uri}"`,
      '#EXT-X-KEY:METHOD=AES-128,URI="{$v}"',
      '#EXTINF:2,',
      'ok.ts',
    ),
  'older segment': (uri) => live('#EXTINF:2,', uri, '#EXTINF:2,', 'no-picture.ts'),
  'second server of a variant': (uri) =>
    master(
      '#EXT-X-STREAM-INF:BANDWIDTH=1,RESOLUTION=1280x720',
      'missing.m3u8',
      '#EXT-X-STREAM-INF:BANDWIDTH=2,RESOLUTION=1280x720',
      uri,
    ),
  'variant of a variant': (uri) => ({
    ...master('#EXT-X-STREAM-INF:BANDWIDTH=1', 'inner.m3u8'),
    'inner.m3u8': ['#EXTM3U', '#EXT-X-STREAM-INF:BANDWIDTH=1', uri].join('\n'),
  }),
};

export const playlists: Site[] = [
  ...sites(followed, targets),
  ...sites(passedOver, maxTelling),
  site('a variable that puts a host together', {
    ...live('#EXT-X-DEFINE:NAME="a",VALUE="127.0"', '#EXTINF:2,', 'http://{$a}.0.1:{port}/x.ts'),
  }),
  site(
    'a variable from the query',
    {
      'live.m3u8': text('#EXT-X-DEFINE:QUERYPARAM="to"', '#EXTINF:2,', 'http://{$to}:{port}/x.ts'),
    },
    'live.m3u8?to=127.0.0.1',
  ),
  site('a variable that brings lines with it', {
    ...live('#EXT-X-DEFINE:NAME="a",VALUE="x\u2028http://127.0.0.1:{port}/"', '#EXTINF:2,', '{$a}'),
  }),
  site('variants that lead to themselves', {
    'live.m3u8': ['#EXTM3U', '#EXT-X-STREAM-INF:BANDWIDTH=1', 'live.m3u8'].join('\n'),
  }),
  site('variants without end', {
    'live.m3u8': ['#EXTM3U', '#EXT-X-STREAM-INF:BANDWIDTH=1', 'deeper.m3u8'].join('\n'),
    'deeper.m3u8': ['#EXTM3U', '#EXT-X-STREAM-INF:BANDWIDTH=1', 'deeper.m3u8?1'].join('\n'),
  }),
  site(
    'a sequence number below zero',
    live('#EXT-X-MEDIA-SEQUENCE:-1', '#EXT-X-KEY:METHOD=AES-128,URI="key"', '#EXTINF:2,', 'ok.ts'),
  ),
  site('a segment that is a playlist', {
    ...live('#EXTINF:2,', 'inner.m3u8'),
    'inner.m3u8': text('#EXTINF:2,', 'http://127.0.0.1:{port}/x.ts'),
  }),
];

function sites(places: Record<string, (uri: string) => Record<string, HostileFile>>, uris: string[]): Site[] {
  return Object.entries(places).flatMap(([place, files]) =>
    uris.map((uri) => site(`a ${place} of ${uri}`, files(uri))),
  );
}

function site(name: string, files: Record<string, HostileFile>, entry = 'live.m3u8'): Site {
  return { name, entry, files };
}

function live(...lines: string[]): Record<string, HostileFile> {
  return { 'live.m3u8': text(...lines) };
}

function master(...lines: string[]): Record<string, HostileFile> {
  return { 'live.m3u8': ['#EXTM3U', ...lines].join('\n') };
}

function text(...lines: string[]): string {
  return ['#EXTM3U', '#EXT-X-TARGETDURATION:2', '#EXT-X-MEDIA-SEQUENCE:1', ...lines].join('\n');
}
