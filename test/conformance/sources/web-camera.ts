import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** Addresses of one camera over HTTP, by their platform. */
export type WebCamera = { jpeg: string; mjpeg: string; mpegts: string };

const pictureMs = 200;

/** Serves a source of ffmpeg as a JPEG, as Motion JPEG and as MPEG-TS. */
export async function startWebCamera(
  ffmpegPath: string,
  inputArgs: string[],
  host: string,
): Promise<{ urls: WebCamera; close(): Promise<void> }> {
  const folder = await mkdtemp(join(tmpdir(), 'conformance-camera-'));
  const picture = join(folder, 'newest.jpg');
  const jpegs = ['-r', '5', '-update', '1', '-atomic_writing', '1', picture];
  const packets = '-c:v libx264 -preset ultrafast -pix_fmt yuv420p -g 10 -f mpegts pipe:1'.split(' ');
  const encoder = spawn(ffmpegPath, ['-nostdin', '-loglevel', 'error', ...inputArgs, ...jpegs, ...packets], {
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  encoder.stdout.resume();
  const server = createServer(({ url }, response) => void answer(url, response));
  server.listen(0, host);
  await once(server, 'listening');
  const origin = `http://${host}:${(server.address() as AddressInfo).port}`;
  return {
    urls: { jpeg: `${origin}/picture`, mjpeg: `${origin}/motion`, mpegts: `${origin}/packets` },
    close: async () => {
      encoder.kill('SIGKILL');
      server.closeAllConnections();
      server.close();
      await rm(folder, { recursive: true, force: true, maxRetries: 5 });
    },
  };

  async function answer(path: string | undefined, response: ServerResponse): Promise<void> {
    const jpeg = await readFile(picture).catch(() => undefined);
    if (jpeg === undefined) return void response.writeHead(503).end();
    if (path === '/picture') return void response.writeHead(200, { 'content-type': 'image/jpeg' }).end(jpeg);
    if (path === '/packets') {
      response.writeHead(200, { 'content-type': 'video/mp2t' });
      encoder.stdout.pipe(response);
      return void response.once('close', () => encoder.stdout.unpipe(response).resume());
    }
    response.writeHead(200, { 'content-type': 'multipart/x-mixed-replace; boundary=picture' });
    const send = async () => {
      const newest = await readFile(picture).catch(() => jpeg);
      response.write(`--picture\r\ncontent-type: image/jpeg\r\ncontent-length: ${newest.length}\r\n\r\n`);
      response.write(newest);
    };
    const timer = setInterval(() => void send(), pictureMs);
    response.once('close', () => clearInterval(timer));
  }
}
