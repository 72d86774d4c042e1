import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';

/** URLs that the abusive key sends: streams that stall, one healthy stream, and a webhook receiver. */
export type Target = {
  url(path: '/live.m3u8' | '/tarpit.m3u8' | '/stalling.m3u8' | '/hook'): string;
  /** Maximum number of connections that the streams had open. */
  maxConnections(): number;
  webhooks(): number;
  close(): Promise<void>;
};

/** Just below the largest playlist that is read. */
const stallingBytes = 7_900_000;
const playlist = '#EXTM3U\n#EXT-X-TARGETDURATION:2\n#EXTINF:2,\n1.ts\n';

export async function startTarget(): Promise<Target> {
  const open = new Set<Socket>();
  let [max, webhooks] = [0, 0];
  const large = Buffer.from(playlist.padEnd(stallingBytes, '#\n'));
  const streams = createServer((request, response) => {
    if (request.url?.startsWith('/tarpit')) return;
    if (request.url?.startsWith('/stalling')) response.write(large);
    else if (request.url?.startsWith('/live')) response.end(playlist);
    else response.writeHead(404).end();
  });
  streams.on('connection', (socket: Socket) => {
    max = Math.max(max, open.add(socket).size);
    socket.on('close', () => open.delete(socket)).on('error', () => undefined);
  });
  const receiver = createServer((request, response) => {
    webhooks += 1;
    request.resume().on('end', () => response.writeHead(204).end());
  });
  for (const server of [streams, receiver]) await once(server.listen(0, '127.0.0.1'), 'listening');
  return {
    url: (path) => `http://127.0.0.1:${readPort(path === '/hook' ? receiver : streams)}${path}`,
    maxConnections: () => max,
    webhooks: () => webhooks,
    close: async () => {
      for (const server of [streams, receiver]) {
        server.close();
        server.closeAllConnections();
      }
    },
  };
}

function readPort(server: { address(): unknown }): number {
  return (server.address() as AddressInfo).port;
}
