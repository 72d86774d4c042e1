import { channel } from 'node:diagnostics_channel';
import { createSocket } from 'node:dgram';
import { mkdtemp, rm, stat, utimes, writeFile } from 'node:fs/promises';
import { createServer, type Server, type Socket } from 'node:net';
import { networkInterfaces, tmpdir } from 'node:os';
import { join } from 'node:path';
import { listGivenPorts } from '../support/servers/free-port.ts';

/** Address of the hostile servers: the only internal address that the guard allows. */
export const hostileAddress = '127.77.0.1';

/**
 * Creates sockets and a file that nothing may access, on every other address of this machine at one port. Records
 * connection attempts of this process to other addresses too (10.0.0.1 has no listener here), since Node reports each
 * attempt. Those to a port of this machine that the system or `freePort` gives are of other tests in this process,
 * whose clients may still be connecting, unless it is the port of the canaries.
 */
export type Canaries = {
  port: number;
  /** Video file; a reader of it can produce a frame. */
  file: string;
  /** Accesses of canaries, and connection attempts beside those to the hostile server. */
  touched(): string[];
  /** True if the file was read; always false on file systems without access times. */
  fileWasRead(): Promise<boolean>;
  close(): Promise<void>;
};

export async function openCanaries(video: Uint8Array): Promise<Canaries> {
  const touched: string[] = [];
  const closers: (() => void)[] = [];
  const port = await listenEverywhere(touched, closers);
  watchAttempts(port, touched, closers);
  const directory = await mkdtemp(join(tmpdir(), 'canary-'));
  const file = join(directory, 'canary.ts');
  await writeFile(file, video);
  await forgetAccess(file);
  return {
    port,
    file,
    touched: () => touched,
    fileWasRead: async () => (await stat(file)).atime.getTime() > longAgo.getTime(),
    async close() {
      for (const close of closers) close();
      await rm(directory, { recursive: true });
    },
  };
}

const longAgo = new Date('2000-01-01T00:00:00Z');

/** Sets the access time before the last change, so that the next reader updates it on every file system. */
async function forgetAccess(file: string): Promise<void> {
  await utimes(file, longAgo, new Date());
}

async function listenEverywhere(touched: string[], closers: (() => void)[]): Promise<number> {
  const first = await listen('127.0.0.1', 0, touched, closers);
  const port = readPort(first);
  for (const address of addresses()) await listen(address, port, touched, closers).catch(() => undefined);
  for (const address of ['127.0.0.1', ...addresses()]) listenUdp(address, port, touched, closers);
  return port;
}

function addresses(): string[] {
  const own = Object.values(networkInterfaces()).flatMap((each) => each ?? []);
  const outer = own.filter(({ internal, scopeid }) => !internal && !scopeid).map(({ address }) => address);
  return ['::1', '127.0.0.3', '127.1.2.3', '127.255.255.254', ...outer];
}

async function listen(
  address: string,
  port: number,
  touched: string[],
  closers: (() => void)[],
): Promise<Server> {
  const server = createServer((socket) => {
    touched.push(`tcp ${address}`);
    socket.destroy();
  });
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  server.once('error', reject).listen(port, address, resolve);
  await promise;
  closers.push(() => server.close());
  return server;
}

function readPort(server: Server): number {
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('no port');
  return address.port;
}

function listenUdp(address: string, port: number, touched: string[], closers: (() => void)[]): void {
  const socket = createSocket(address.includes(':') ? 'udp6' : 'udp4');
  socket.on('message', () => touched.push(`udp ${address}`));
  socket.on('error', () => undefined);
  socket.bind(port, address);
  closers.push(() => socket.close());
}

const firstDynamicPort = 32_768;

function watchAttempts(port: number, touched: string[], closers: (() => void)[]): void {
  const sockets = channel('net.client.socket');
  const isOfTests = (to: number) => to >= firstDynamicPort || listGivenPorts().includes(to);
  const watch = (message: unknown): void => {
    const { socket } = message as { socket: Socket };
    socket.on('connectionAttempt', (address: string, to: number) => {
      const isOther = address.startsWith('127.') && to !== port && isOfTests(to);
      if (address !== hostileAddress && !isOther) touched.push(`attempt ${address}:${to}`);
    });
  };
  sockets.subscribe(watch);
  closers.push(() => sockets.unsubscribe(watch));
}
