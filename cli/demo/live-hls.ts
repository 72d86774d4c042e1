import { spawn, type ChildProcess } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type RequestListener, type Server } from 'node:http';
import { waitAtMost } from '../../core/time-limit.ts';

/** Source, format and address of the stream. Default port: any free port. */
export type LiveHlsOptions = {
  ffmpegPath: string;
  /**
   * Real-time inputs, filters and `-map` for ffmpeg: `['-re', '-f', 'lavfi', '-i', 'testsrc2=size=1280x720:rate=30']`.
   */
  inputArgs: string[];
  segmentSeconds: number;
  /** Segments that the playlist lists; default 6. */
  listedSegments?: number;
  segmentType?: 'mpegts' | 'fmp4';
  host: string;
  port?: number;
};

const startTimeoutMs = 20_000;

/**
 * Starts a live HLS stream. ffmpeg pushes playlist and segments (HTTP PUT) to an ingest server on loopback, and an
 * origin server serves them from memory. If this process crashes, the next push fails and ends ffmpeg. Resolves when
 * the playlist is available; throws if ffmpeg ends or 20 s pass before.
 */
export async function startLiveHls(options: LiveHlsOptions) {
  const files = new Map<string, Buffer>();
  const secretPath = `/${randomUUID()}/`;
  const published = Promise.withResolvers<void>();
  const ingest = createServer(takeUploads(files, secretPath, published.resolve));
  const origin = createServer(serve(files));
  const encoder: { process?: ChildProcess } = {};
  const close = async (): Promise<void> => {
    await ended(encoder.process);
    for (const server of [ingest, origin]) {
      server.close();
      server.closeAllConnections();
    }
  };
  try {
    const ingestPort = await listen(ingest, '127.0.0.1', 0);
    const port = await listen(origin, options.host, options.port ?? 0);
    encoder.process = startEncoder(options, `http://127.0.0.1:${ingestPort}${secretPath}`);
    await waitAtMost(
      startTimeoutMs,
      Promise.race([published.promise, failed(encoder.process)]),
      throwTimedOut,
    );
    return {
      /** Address of the media playlist. */
      url: `http://${options.host}:${port}/live.m3u8`,
      close,
    };
  } catch (error) {
    await close();
    throw error;
  }
}

function startEncoder(options: LiveHlsOptions, ingestUrl: string): ChildProcess {
  const { segmentSeconds, listedSegments = 6 } = options;
  const encoding = words('-an -c:v libx264 -preset ultrafast -tune zerolatency -pix_fmt yuv420p -bf 0');
  const keyFrames = ['-force_key_frames', `expr:gte(t,n_forced*${segmentSeconds})`];
  const names =
    options.segmentType === 'fmp4'
      ? [
          ...words('-hls_segment_type fmp4 -hls_fmp4_init_filename init.mp4 -hls_segment_filename'),
          `${ingestUrl}%d.m4s`,
        ]
      : ['-hls_segment_filename', `${ingestUrl}%d.ts`];
  const hls = words(
    `-f hls -method PUT -hls_time ${segmentSeconds} -hls_list_size ${listedSegments} -hls_flags delete_segments+omit_endlist+program_date_time`,
  );
  const args = ['-hide_banner', '-nostdin', '-loglevel', 'error', ...options.inputArgs];
  return spawn(
    options.ffmpegPath,
    [...args, ...encoding, ...keyFrames, ...hls, ...names, `${ingestUrl}live.m3u8`],
    {
      env: {},
      stdio: ['ignore', 'ignore', 'pipe'],
    },
  );
}

/**
 * Stores uploads. A file becomes visible when its upload is complete. A playlist becomes visible when all of its
 * segments are stored: ffmpeg sends it before the last segment has arrived.
 */
function takeUploads(
  files: Map<string, Buffer>,
  secretPath: string,
  onPlaylist: () => void,
): RequestListener {
  let waiting: { name: string; playlist: Buffer } | undefined;

  return (request, response) => {
    const path = request.url ?? '';
    if (!path.startsWith(secretPath)) return void response.writeHead(404).end();
    const name = path.slice(secretPath.length);
    if (request.method === 'DELETE') {
      files.delete(name);
      return void response.writeHead(204).end();
    }
    store(request).then(
      () => response.writeHead(201).end(),
      () => response.destroy(),
    );

    async function store(upload: IncomingMessage): Promise<void> {
      const file = await readAll(upload);
      if (name.endsWith('.m3u8')) waiting = { name, playlist: file };
      else files.set(name, file);
      publish();
    }
  };

  function publish(): void {
    if (waiting === undefined || !listSegments(waiting.playlist).every((segment) => files.has(segment)))
      return;
    files.set(waiting.name, waiting.playlist);
    waiting = undefined;
    onPlaylist();
  }
}

/** Returns the file names of the segments: ffmpeg writes the ingest URLs into the playlist. */
function listSegments(playlist: Buffer): string[] {
  const lines = playlist.toString().split('\n');
  return lines
    .filter((line) => line !== '' && !line.startsWith('#'))
    .map((line) => line.slice(line.lastIndexOf('/') + 1));
}

function serve(files: Map<string, Buffer>): RequestListener {
  return (request, response) => {
    const name = new URL(request.url ?? '/', 'http://localhost').pathname.slice(1);
    const file = files.get(name);
    if (file === undefined) return void response.writeHead(404).end();
    response.writeHead(200, {
      'content-type': contentType(name),
      'cache-control': 'no-cache',
      'access-control-allow-origin': '*',
    });
    response.end(request.method === 'HEAD' ? undefined : file);
  };
}

function contentType(name: string): string {
  if (name.endsWith('.m3u8')) return 'application/vnd.apple.mpegurl';
  return name.endsWith('.ts') ? 'video/mp2t' : 'video/mp4';
}

async function readAll(request: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) if (Buffer.isBuffer(chunk)) chunks.push(chunk);
  return Buffer.concat(chunks);
}

async function listen(server: Server, host: string, port: number): Promise<number> {
  server.listen(port, host);
  await once(server, 'listening');
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('The server has no port');
  return address.port;
}

async function ended(encoder: ChildProcess | undefined): Promise<void> {
  if (encoder === undefined || encoder.exitCode !== null || encoder.signalCode !== null) return;
  encoder.kill('SIGKILL');
  await once(encoder, 'close');
}

async function failed(encoder: ChildProcess): Promise<never> {
  let stderr = '';
  encoder.stderr?.on('data', (chunk: Buffer) => (stderr = (stderr + chunk.toString()).slice(0, 2000)));
  await once(encoder, 'close');
  throw new Error(`ffmpeg ended before the stream began: ${stderr.trim()}`);
}

function throwTimedOut(): never {
  throw new Error('The stream did not begin in time');
}

function words(line: string): string[] {
  return line.split(' ');
}
