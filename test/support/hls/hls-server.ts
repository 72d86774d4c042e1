import { createCipheriv } from 'node:crypto';
import { createServer, type ServerResponse } from 'node:http';
import { gzipSync } from 'node:zlib';
import { openLocally } from '../servers/local-server.ts';
import type { Recording } from './recording.ts';

/** Response of the server, which a test may change. */
export type Answer = {
  status: number;
  headers: Record<string, string>;
  body: Buffer | string;
  delayMs?: number;
};

export type HlsServer = {
  /**
   * Returns a URL: `/live.m3u8` is a sliding window over the recording, `/master.m3u8` a multivariant playlist for it.
   */
  url: (path: string) => string;
  /** Requested paths with byte ranges; tests may clear it. */
  requests: string[];
  /** Index of the newest segment in the playlist, which the test advances. */
  newest: number;
  ended: boolean;
  /** Returns playlist lines before the EXTINF of a segment. */
  tags: (sequence: number) => string[];
  editPlaylist: (text: string) => string;
  /** Changes a response before it is sent. */
  answer: (path: string, answer: Answer) => Answer;
  /** AES-128 key; initialization vectors are the media sequence numbers. `null` for no encryption. */
  key: Buffer | null;
  /** True to serve all segments as byte ranges of one file. */
  byteRanges: boolean;
  ignoresRanges: boolean;
  gzip: boolean;
  close(): Promise<void>;
};

const windowSegments = 5;

/** Serves a recording as a live stream whose time the test controls. */
export async function startHlsServer(recording: Recording): Promise<HlsServer> {
  const suffix = recording.initialization === null ? 'ts' : 'm4s';
  const server = createServer((request, response) => {
    const path = (request.url ?? '').replace(/^\/[^/]*@/, '/');
    const range = /bytes=(\d+)-(\d+)/.exec(request.headers.range ?? '');
    hls.requests.push(range ? `${path} ${range[1]}-${range[2]}` : path);
    let answer = hls.answer(path, content(path.split('?')[0] ?? ''));
    if (range && answer.status === 200 && !hls.ignoresRanges) {
      const body = Buffer.from(answer.body).subarray(Number(range[1]), Number(range[2]) + 1);
      answer = { ...answer, status: 206, body };
    }
    if (hls.gzip && answer.status === 200 && path.includes('.m3u8')) {
      answer = {
        ...answer,
        headers: { ...answer.headers, 'content-encoding': 'gzip' },
        body: gzipSync(answer.body),
      };
    }
    send(response, answer);
  });
  const { url, close } = await openLocally(server);
  const hls: HlsServer = {
    url,
    requests: [],
    newest: 4,
    ended: false,
    tags: () => [],
    editPlaylist: (text) => text,
    answer: (_path, answer) => answer,
    key: null,
    byteRanges: false,
    ignoresRanges: false,
    gzip: false,
    close,
  };
  return hls;

  function content(path: string): Answer {
    const playlistType = { 'content-type': 'application/vnd.apple.mpegurl' };
    const segment = /^\/segments\/(\d+)\./.exec(path)?.[1];
    if (path === '/master.m3u8') return { status: 200, headers: playlistType, body: master };
    if (path.endsWith('.m3u8'))
      return { status: 200, headers: playlistType, body: hls.editPlaylist(playlist()) };
    if (path === '/segments/init.mp4')
      return { status: 200, headers: {}, body: recording.initialization ?? '' };
    if (path === '/segments/all.ts')
      return { status: 200, headers: {}, body: Buffer.concat(recording.segments) };
    if (path === '/key') return { status: 200, headers: {}, body: hls.key ?? '' };
    const bytes = segment === undefined ? undefined : recording.segments[Number(segment)];
    if (bytes === undefined) return { status: 404, headers: {}, body: '' };
    return {
      status: 200,
      headers: {},
      body: hls.key === null ? bytes : encrypt(bytes, hls.key, Number(segment)),
    };
  }

  function playlist(): string {
    const oldest = Math.max(0, hls.newest - windowSegments + 1);
    const sequences = Array.from({ length: hls.newest - oldest + 1 }, (_, index) => oldest + index);
    return [
      '#EXTM3U',
      '#EXT-X-VERSION:7',
      `#EXT-X-TARGETDURATION:${recording.segmentSeconds}`,
      `#EXT-X-MEDIA-SEQUENCE:${oldest}`,
      ...(hls.key === null ? [] : ['#EXT-X-KEY:METHOD=AES-128,URI="/key"']),
      ...(recording.initialization === null ? [] : ['#EXT-X-MAP:URI="segments/init.mp4"']),
      ...sequences.flatMap((sequence) => [
        ...hls.tags(sequence),
        `#EXTINF:${recording.segmentSeconds},`,
        ...(hls.byteRanges
          ? [byteRange(sequence), 'segments/all.ts']
          : [`segments/${sequence}.${suffix}?token=a`]),
      ]),
      ...(hls.ended ? ['#EXT-X-ENDLIST'] : []),
    ].join('\n');
  }

  function byteRange(sequence: number): string {
    const before = recording.segments.slice(0, sequence).reduce((sum, { length }) => sum + length, 0);
    return `#EXT-X-BYTERANGE:${recording.segments[sequence]?.length}@${before}`;
  }
}

const master = [
  '#EXTM3U',
  '#EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID="sound",NAME="Español",URI="sound.m3u8"',
  '#EXT-X-STREAM-INF:BANDWIDTH=64000,CODECS="mp4a.40.2",AUDIO="sound"',
  'sound.m3u8',
  '#EXT-X-STREAM-INF:BANDWIDTH=6000000,RESOLUTION=1920x1080,CODECS="avc1.640028,mp4a.40.2"',
  'high.m3u8',
  '#EXT-X-STREAM-INF:BANDWIDTH=1200000,RESOLUTION=854x480,CODECS="avc1.4d401f,mp4a.40.2"',
  'low.m3u8',
  '#EXT-X-STREAM-INF:BANDWIDTH=3000000,RESOLUTION=1280x720,CODECS="avc1.4d401f,mp4a.40.2"',
  'middle.m3u8',
  '#EXT-X-I-FRAME-STREAM-INF:BANDWIDTH=100000,RESOLUTION=1280x720,URI="iframes.m3u8"',
].join('\n');

function encrypt(bytes: Buffer, key: Buffer, sequence: number): Buffer {
  const iv = Buffer.alloc(16);
  iv.writeUInt32BE(sequence, 12);
  const cipher = createCipheriv('aes-128-cbc', key, iv);
  return Buffer.concat([cipher.update(bytes), cipher.final()]);
}

function send(response: ServerResponse, answer: Answer): void {
  setTimeout(() => response.writeHead(answer.status, answer.headers).end(answer.body), answer.delayMs ?? 0);
}
