import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { hostileAddress } from './canaries.ts';
import { fillIn, type HostileFile, type Site } from './vectors/vector.ts';

export type HostileServer = {
  /** `host:port` */
  self: string;
  /** Adds a site in its own folder and returns the URL of its entry. */
  host(site: Site): string;
  close(): Promise<void>;
};

/**
 * Serves the sites of vectors, with their valid files. Each response closes its connection, so that the guard checks
 * every request.
 */
export async function startHostileServer(
  canaries: { port: number; file: string },
  good: Record<string, Buffer | string>,
): Promise<HostileServer> {
  const sites: Site[] = [];
  const server = createServer((request, response) => answer(request, response));
  // A name of this server that leads elsewhere then leads to a canary.
  server.listen(canaries.port, hostileAddress);
  await once(server, 'listening');
  const self = `${hostileAddress}:${canaries.port}`;
  return {
    self,
    host: (site) => `${createBaseUrl(sites.push(site) - 1)}${site.entry}`,
    async close() {
      server.close();
      server.closeAllConnections();
      await once(server, 'close');
    },
  };

  function createBaseUrl(index: number): string {
    return `http://${self}/${index}/`;
  }

  function answer(request: IncomingMessage, response: ServerResponse): void {
    const [, index = '', name = ''] = /^\/(\d+)\/([^?]*)/.exec(request.url ?? '') ?? [];
    const file: HostileFile | undefined = sites[Number(index)]?.files[name] ?? good[name];
    response.setHeader('connection', 'close');
    if (file === undefined) return void response.writeHead(404).end();
    if (typeof file === 'function') return file(response);
    if (Buffer.isBuffer(file)) return void response.end(file);
    const { status = 200, headers = {}, body = '' } = typeof file === 'string' ? { body: file } : file;
    const fill = (text: string): string =>
      fillIn(text, { ...canaries, self, base: createBaseUrl(Number(index)) });
    for (const [key, value] of Object.entries(headers)) response.setHeader(key, fill(value));
    response.writeHead(status).end(fill(body));
  }
}
