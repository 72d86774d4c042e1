import { connect, createServer, type Socket } from 'node:net';
import { createServer as createTlsServer, type TlsOptions } from 'node:tls';

export type TunnelRequest = { method: string; path: string; header(name: string): string | undefined };

/** Deviations of the server. Each returns a response that replaces the usual one; undefined keeps it. */
export type TunnelOddities = {
  get?: (request: TunnelRequest, socket: Socket) => string | undefined;
  post?: (request: TunnelRequest, socket: Socket) => string | undefined;
  tls?: TlsOptions;
};

const success = 'HTTP/1.0 200 OK\r\nContent-Type: application/x-rtsp-tunnelled\r\n\r\n';

/**
 * Starts a server that tunnels an RTSP server through HTTP, as QuickTime does. It pairs GET and POST by their cookie.
 */
export async function startHttpTunnel(cameraUrl: string, odd: TunnelOddities = {}) {
  const camera = new URL(cameraUrl);
  const sockets = new Set<Socket>();
  const requests: TunnelRequest[] = [];
  const ways = new Map<string, Socket>();
  const serve = (socket: Socket): void => {
    sockets.add(socket.on('error', () => undefined));
    let head = '';
    const take = (chunk: Buffer): void => {
      head += chunk.toString('latin1');
      const end = head.indexOf('\r\n\r\n');
      if (end < 0) return;
      socket.off('data', take);
      begin(socket, parse(head.slice(0, end)), head.slice(end + 4));
    };
    socket.on('data', take);
  };
  const server = odd.tls ? createTlsServer(odd.tls, serve) : createServer(serve);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('The server has no port');

  function begin(socket: Socket, request: TunnelRequest, rest: string): void {
    requests.push(request);
    const cookie = request.header('x-sessioncookie') ?? '';
    const own = (request.method === 'GET' ? odd.get : odd.post)?.(request, socket);
    if (own !== undefined) socket.write(own);
    if (own !== undefined && !/^HTTP\/1\.0 +200/.test(own)) return void socket.end();
    if (request.method === 'GET') {
      if (own === undefined) socket.write(success);
      ways.set(cookie, socket);
    } else relay(socket, ways.get(cookie), rest);
  }

  function relay(up: Socket, down: Socket | undefined, rest: string): void {
    if (down === undefined) return void up.destroy();
    const upstream = connect(Number(camera.port), camera.hostname);
    sockets.add(upstream.on('error', () => undefined));
    let text = '';
    const take = (more: string): void => {
      text += more;
      const whole = text.length - (text.length % 4);
      const groups = text.slice(0, whole).match(/.{4}/gs) ?? [];
      upstream.write(Buffer.concat(groups.map((group) => Buffer.from(group, 'base64'))));
      text = text.slice(whole);
    };
    take(rest);
    up.on('data', (chunk: Buffer) => take(chunk.toString('latin1'))).on('close', () => upstream.destroy());
    upstream.pipe(down);
  }

  return {
    url: `rtsp+http${odd.tls ? 's' : ''}://127.0.0.1:${address.port}${camera.pathname}`,
    requests,
    async close() {
      for (const socket of sockets) socket.destroy();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

function parse(head: string): TunnelRequest {
  const [line = '', ...headers] = head.split('\r\n');
  const [method = '', path = ''] = line.split(' ');
  const values = new Map(headers.map((header) => header.split(/: (.*)/s, 2) as [string, string]));
  return {
    method,
    path,
    header: (name) => [...values].find(([key]) => key.toLowerCase() === name)?.[1],
  };
}
