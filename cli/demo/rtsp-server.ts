import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { createServer, type Server, type Socket } from 'node:net';
import { createAccessUnitSplitter } from './rtsp-h264.ts';
import { createPublication } from './rtsp-publication.ts';
import { serveViewer } from './rtsp-viewer.ts';

/** Source and address of the stream. */
export type RtspServerOptions = {
  ffmpegPath: string;
  /**
   * Arguments of ffmpeg before the encoder of an output: real-time inputs (`-re`), other outputs of the same ffmpeg, filters
   * and `-map`.
   */
  inputArgs: string[];
  /** Path with leading slash: `/live`. */
  path: string;
  /** Default: any free port. */
  port?: number;
  host?: '127.0.0.1';
  /** Value of `a=range` in the SDP. Default: `npt=now-`; a range with an end marks a recording. */
  range?: string;
  /** Frames between two key frames. Default: 25. */
  keyFrameEvery?: number;
};

/** Running RTSP server. */
export type RtspServer = {
  url: string;
  /** Resolves when ffmpeg ends, for any reason. */
  ended: Promise<void>;
  close(): Promise<void>;
};

/**
 * Starts an RTSP server with one live H.264 stream from ffmpeg, over interleaved TCP. Rethrows errors of spawn and listen.
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
  // Each access unit begins with a delimiter and each key frame with parameter sets, so that viewers can join at a key frame.
  const output = `-an -c:v libx264 -preset ultrafast -tune zerolatency -pix_fmt yuv420p -g ${keyFrameEvery} -x264-params aud=1:repeat-headers=1:scenecut=0 -flush_packets 1 -f h264 pipe:1`;
  const args = ['-hide_banner', '-nostdin', '-loglevel', 'fatal', ...inputArgs, ...output.split(' ')];
  return spawn(ffmpegPath, args, { stdio: ['ignore', 'pipe', 'ignore'] });
}
