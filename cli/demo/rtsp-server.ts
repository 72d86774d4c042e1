import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { createServer, type Server, type Socket } from 'node:net';
import { createAccessUnitSplitter } from './rtsp-h264.ts';
import { createPublication } from './rtsp-publication.ts';
import { serveViewer } from './rtsp-viewer.ts';

export type RtspServerOptions = {
  ffmpegPath: string;
  /**
   * Where the pictures come from, as ffmpeg arguments that end where an output's encoder would follow: inputs in real time
   * (`-re`), other outputs of the same ffmpeg, filters and `-map` for ours.
   */
  inputArgs: string[];
  /** With its slash: `/live`. */
  path: string;
  /** Any free one by default. */
  port?: number;
  host?: '127.0.0.1';
  /** Value of `a=range` in the description; `npt=now-` by default, with an end it is a recording. */
  range?: string;
  /** Frames between two key frames; 25 by default. */
  keyFrameEvery?: number;
};

export type RtspServer = {
  url: string;
  /** Resolves when ffmpeg has ended, for whatever reason. */
  ended: Promise<void>;
  close(): Promise<void>;
};

/**
 * One live H.264 stream, made by ffmpeg, for any number of RTSP viewers over interleaved TCP. Throws what spawning and listening throw.
 */
export async function startRtspServer(options: RtspServerOptions): Promise<RtspServer> {
  const publication = createPublication(options.range ?? 'npt=now-');
  const viewers = new Set<Socket>();
  const server = createServer((socket) => {
    viewers.add(socket.once('close', () => viewers.delete(socket)));
    serveViewer(socket, publication, options.path);
  });
  const port = await listen(server, options);
  const encoder = encode(options);
  const ended = new Promise<void>((resolve) => {
    encoder.once('close', () => {
      publication.fail(new Error('ffmpeg has ended'));
      for (const viewer of viewers) viewer.destroy();
      resolve();
    });
  });
  const splitter = createAccessUnitSplitter();
  encoder.stdout?.on('data', (chunk: Buffer) => {
    for (const picture of splitter.push(chunk)) publication.publish(picture, performance.now());
  });
  try {
    await once(encoder, 'spawn');
  } catch (error) {
    server.close();
    throw error;
  }
  return {
    url: `rtsp://127.0.0.1:${port}${options.path}`,
    ended,
    async close() {
      encoder.kill('SIGKILL');
      await ended;
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

async function listen(server: Server, options: RtspServerOptions): Promise<number> {
  server.listen(options.port ?? 0, options.host ?? '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('The RTSP server has no port');
  return address.port;
}

function encode({ ffmpegPath, inputArgs, keyFrameEvery = 25 }: RtspServerOptions): ChildProcess {
  // Each picture begins with a delimiter, each key frame with parameter sets: so viewers can join at any of them.
  const output = `-an -c:v libx264 -preset ultrafast -tune zerolatency -pix_fmt yuv420p -g ${keyFrameEvery} -x264-params aud=1:repeat-headers=1:scenecut=0 -flush_packets 1 -f h264 pipe:1`;
  const args = ['-hide_banner', '-nostdin', '-loglevel', 'fatal', ...inputArgs, ...output.split(' ')];
  return spawn(ffmpegPath, args, { stdio: ['ignore', 'pipe', 'ignore'] });
}
