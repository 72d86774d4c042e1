import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

export type Playlists = {
  /** Playlist of a recording. */
  recording: string;
  /** Live playlist whose segments contain no video. */
  broken: string;
  /** URL that returns 404. */
  offline: string;
  close(): Promise<void>;
};

const segmentSeconds = 2;

/** Serves playlists that no service can monitor, each for another reason. */
export async function servePlaylists(host: string): Promise<Playlists> {
  const server = createServer((request, response) => {
    const path = request.url ?? '';
    if (path.endsWith('.ts')) return void response.writeHead(200).end(Buffer.alloc(20_000, 'no video'));
    const playlist = path === '/recording.m3u8' ? recording : path === '/broken.m3u8' ? sliding() : undefined;
    if (playlist === undefined) return void response.writeHead(404).end();
    response.writeHead(200, { 'content-type': 'application/vnd.apple.mpegurl' }).end(playlist);
  });
  server.listen(0, host);
  await once(server, 'listening');
  const origin = `http://${host}:${(server.address() as AddressInfo).port}`;
  return {
    recording: `${origin}/recording.m3u8`,
    broken: `${origin}/broken.m3u8`,
    offline: `${origin}/offline.m3u8`,
    close: async () => {
      server.closeAllConnections();
      server.close();
    },
  };
}

const recording =
  '#EXTM3U\n#EXT-X-VERSION:3\n#EXT-X-TARGETDURATION:4\n#EXT-X-PLAYLIST-TYPE:VOD\n#EXTINF:4,\n0.ts\n#EXT-X-ENDLIST\n';

/** Returns a live playlist of three segments that advances with time. */
function sliding(): string {
  const first = Math.floor(Date.now() / 1000 / segmentSeconds);
  const segments = [0, 1, 2].map((at) => `#EXTINF:${segmentSeconds},\n${first + at}.ts\n`);
  return `#EXTM3U\n#EXT-X-VERSION:3\n#EXT-X-TARGETDURATION:${segmentSeconds}\n#EXT-X-MEDIA-SEQUENCE:${first}\n${segments.join('')}`;
}
