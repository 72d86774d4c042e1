import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

/** Serves an ended playlist: a recording, not a live stream. */
export async function startRecording(): Promise<{ url: string; close(): void }> {
  const server = createServer((_, response) => {
    response.setHeader('content-type', 'application/vnd.apple.mpegurl');
    response.end('#EXTM3U\n#EXT-X-TARGETDURATION:4\n#EXTINF:4,\n0.ts\n#EXT-X-ENDLIST\n');
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const { port } = server.address() as AddressInfo;
  return { url: `http://127.0.0.1:${port}/vod.m3u8`, close: () => server.close() };
}
