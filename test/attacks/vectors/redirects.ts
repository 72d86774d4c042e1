import type { HostileFile, Site } from './vector.ts';

const inside = 'http://127.0.0.1:{port}/x';

/** Places from which a server can redirect, with the files that lead there. */
const hops: Record<string, { at: string; files: Record<string, string> }> = {
  playlist: { at: 'live.m3u8', files: {} },
  variant: { at: 'variant.m3u8', files: { 'live.m3u8': multivariant('variant.m3u8') } },
  segment: { at: 'segment.ts', files: { 'live.m3u8': media('#EXTINF:2,', 'segment.ts') } },
  'byte range': {
    at: 'range.ts',
    files: { 'live.m3u8': media('#EXT-X-BYTERANGE:100@0', '#EXTINF:2,', 'range.ts') },
  },
  key: {
    at: 'hostile-key',
    files: { 'live.m3u8': media('#EXT-X-KEY:METHOD=AES-128,URI="hostile-key"', '#EXTINF:2,', 'ok.ts') },
  },
  init: {
    at: 'hostile-init.mp4',
    files: { 'live.m3u8': media('#EXT-X-MAP:URI="hostile-init.mp4"', '#EXTINF:2,', 'ok.m4s') },
  },
};

const statuses = [301, 302, 303, 307, 308];

/** Locations that lead to an internal address or another protocol. */
const locations =
  `https://127.0.0.1:{port}/ //127.0.0.1:{port}/x ///127.0.0.1:{port}/x \\\\127.0.0.1:{port}\\x
  /\\127.0.0.1:{port}/ http:\\\\127.0.0.1:{port}\\ http:/127.0.0.1:{port}/ http:127.0.0.1:{port} HTTP://LOCALHOST:{port}/
  http://localhost:{port}/ http://[::1]:{port}/ http://[::ffff:127.0.0.1]:{port}/ http://0x7f.1:{port}/ http://0177.1:{port}/
  http://2130706433:{port}/ http://127.1:{port}/ http://0:{port}/ http://127.0.0.1.:{port}/ http://{self}@127.0.0.1:{port}/
  http://a:b@127.0.0.3:{port}/ http://127.0.0.1:{port}#@{self}/ http://127.0.0.1:{port}?@{self}/ http://127.0.0.1%2f@127.0.0.1:{port}/
  http://inside.example:{port}/ http://169.254.169.254/latest/meta-data/ http://[fd00:ec2::254]/latest/ http://100.100.100.200/
  http://127.0.0.1:9001/2018-06-01/runtime/invocation/next http://10.0.0.1/ http://192.168.0.1/ rtsp://127.0.0.1:{port}/cam
  rtsp://{self}/cam rtmp://127.0.0.1:{port}/ tcp://127.0.0.1:{port} udp://127.0.0.1:{port} ftp://127.0.0.1:{port}/
  gopher://127.0.0.1:{port}/ file://{file} file:{file} {file} data:application/vnd.apple.mpegurl,%23EXTM3U
  concat:{file} crypto+file:{file} subfile,,start,0,end,0,,:{file} javascript:1 about:blank unix:/tmp/x ws://127.0.0.1:{port}/`
    .trim()
    .split(/\s+/);

export const redirects: Site[] = [
  ...Object.keys(hops).flatMap((hop) => statuses.map((status) => redirect(hop, status, inside))),
  ...locations.map((location, index) => redirect(index % 2 ? 'playlist' : 'segment', 302, location)),
  ...Object.keys(hops).map((hop) => chain(hop)),
  ...['variant', 'key', 'init'].flatMap((hop) =>
    ['file://{file}', '//127.0.0.1:{port}/', 'http://inside.example:{port}/'].map((location) =>
      redirect(hop, 307, location),
    ),
  ),
  site('a loop', { 'live.m3u8': found('live.m3u8') }),
  site('a loop of two', { 'live.m3u8': found('b'), b: found('live.m3u8') }),
  site('a chain that is too long', Object.fromEntries(longChain())),
  site('a refresh header', { 'live.m3u8': { headers: { refresh: `0; url=${inside}` } } }),
  site('a meta refresh', {
    'live.m3u8': `<html><meta http-equiv="refresh" content="0; url=${inside}"></html>`,
  }),
  site('a content location', {
    'live.m3u8': { headers: { 'content-location': inside }, body: media('#EXTINF:2,', 'x.ts') },
  }),
  site('a link header', { 'live.m3u8': { headers: { link: `<${inside}>; rel=preload` } } }),
  site('an alternative service', {
    'live.m3u8': { headers: { 'alt-svc': 'h2="127.0.0.1:{port}"' }, body: media('#EXTINF:2,', 'ok.ts') },
  }),
  ...[200, 201, 202, 203, 206, 300, 304, 305, 306, 400, 401, 407, 426, 503].map((status) =>
    redirect('playlist', status, inside),
  ),
  site('a proxy that is asked for', {
    'live.m3u8': { status: 305, headers: { location: 'http://127.0.0.1:{port}/' } },
  }),
];

function redirect(hop: string, status: number, location: string): Site {
  const { at, files } = hops[hop]!;
  return site(`${status} of the ${hop} to ${location}`, {
    ...files,
    [at]: { status, headers: { location } },
  });
}

function chain(hop: string): Site {
  const { at, files } = hops[hop]!;
  return site(`a chain from the ${hop} that ends inside`, {
    ...files,
    [at]: found('hop-1'),
    'hop-1': found('hop-2'),
    'hop-2': { status: 308, headers: { location: '{base}hop-3' } },
    'hop-3': found(inside),
  });
}

function longChain(): [string, HostileFile][] {
  const hops = Array.from({ length: 20 }, (_, at): [string, HostileFile] => [`${at}`, found(`${at + 1}`)]);
  return [['live.m3u8', found('0')], ...hops];
}

function found(location: string): HostileFile {
  return { status: 302, headers: { location } };
}

function site(name: string, files: Record<string, HostileFile>): Site {
  return { name, entry: 'live.m3u8', files };
}

function multivariant(uri: string): string {
  return ['#EXTM3U', '#EXT-X-STREAM-INF:BANDWIDTH=1', uri].join('\n');
}

function media(...lines: string[]): string {
  return ['#EXTM3U', '#EXT-X-TARGETDURATION:2', ...lines].join('\n');
}
