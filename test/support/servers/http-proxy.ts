import { once } from 'node:events';
import { createServer } from 'node:http';
import { connect, type AddressInfo, type Socket } from 'node:net';

/** Starts an HTTP CONNECT proxy that maps every name to loopback and records the requests. */
export async function startHttpProxy(options: { status?: number } = {}) {
  const asked: { target: string; authorization: string | undefined }[] = [];
  const sockets = new Set<Socket>();
  const server = createServer((_request, response) => void response.writeHead(405).end());
  server.on('connection', (socket: Socket) => keep(socket));
  server.on('connect', (request, near: Socket) => {
    const target = request.url ?? '';
    asked.push({ target, authorization: request.headers['proxy-authorization'] });
    if (options.status !== undefined) return void near.end(`HTTP/1.1 ${options.status} No\r\n\r\n`);
    const far = keep(connect(Number(target.split(':').at(-1)), '127.0.0.1'));
    far.once('connect', () => near.write('HTTP/1.1 200 OK\r\n\r\n'));
    near.pipe(far).pipe(near);
    near.on('close', () => far.destroy());
    far.on('close', () => near.destroy());
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const { port } = server.address() as AddressInfo;
  return {
    asked,
    url: `http://127.0.0.1:${port}`,
    urlWithCredentials: `http://agent:let%20me@127.0.0.1:${port}`,
    close: async () => {
      for (const socket of sockets) socket.destroy();
      server.close();
      await once(server, 'close');
    },
  };

  function keep(socket: Socket): Socket {
    sockets.add(socket);
    return socket.on('error', () => undefined).on('close', () => sockets.delete(socket));
  }
}
