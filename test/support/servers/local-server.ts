import { once } from 'node:events';
import type { Server } from 'node:http';

export type LocalServer = { port: number; url(path: string): string; close(): Promise<void> };

/** Opens an HTTP server on loopback, by default on a free port. `close` ends its connections. */
export async function openLocally(server: Server, wanted = 0): Promise<LocalServer> {
  await once(server.listen(wanted, '127.0.0.1'), 'listening');
  const address = server.address();
  const port = typeof address === 'object' ? (address?.port ?? 0) : 0;
  return {
    port,
    url: (path) => `http://127.0.0.1:${port}${path}`,
    async close() {
      const closed = once(server, 'close');
      server.close();
      server.closeAllConnections();
      await closed;
    },
  };
}
