import { randomBytes } from 'node:crypto';
import { createServer, type Server, type Socket } from 'node:net';
import { RtspProtocolError } from './errors.ts';
import type { DescribedStream } from './describe.ts';
import { watchForKeyFrameEnd } from './key-frame-end.ts';
import { formatMessage, headerValue, requestLine, type RtspHeader, type RtspMessage } from './message.ts';
import { createRtspReader } from './reader.ts';
import { setUpTrack } from './track-setup.ts';
import { describeTrack } from './video-track.ts';

/** A one-track RTSP server on loopback for one ffmpeg, in front of a stream that we have described ourselves. */
export type RtspRelay = {
  /** What ffmpeg opens. It says nothing of the real stream: ffmpeg takes options from a URL's query. */
  url: string;
  /** When the newest frame was handed on; null before the first. */
  lastFrameAt(): Date | null;
  /** Ends both connections. */
  close(): Promise<void>;
};

/**
 * Sets the track up at the server, over TCP only, and waits for one client that knows the relay's secret path. ffmpeg's
 * requests end here: it never sees a text of the server's, so no redirect, address or header can lead it elsewhere. Interleaved
 * frames pass unchanged and with back-pressure. When one side leaves, so does the other; with `until: 'key frame'` the stream also ends
 * for ffmpeg once it has had a whole one. Takes `stream.client` over. Throws as `setUpTrack`.
 */
export async function openRtspRelay(
  stream: DescribedStream,
  now: () => Date,
  until: 'key frame' | 'the end' = 'the end',
): Promise<RtspRelay> {
  const { client } = stream;
  const setup = await setUpTrack(stream);
  const path = randomBytes(16).toString('hex');
  const server = createServer();
  const port = await listen(server);
  const url = `rtsp://127.0.0.1:${port}/${path}`;
  let viewer: Socket | null = null;
  let lastFrameAt: Date | null = null;

  server.on('connection', (socket) => serveViewer(socket));
  client.onEnd(() => {
    // What has arrived is still handed on.
    viewer?.end();
    server.close();
  });

  return { url, lastFrameAt: () => lastFrameAt, close: async () => close() };

  function serveViewer(socket: Socket): void {
    const reader = createRtspReader();
    socket.on('error', () => undefined);
    socket.on('close', () => {
      if (socket === viewer) close();
    });
    socket.setTimeout(strangerTimeoutMs, () => void (socket !== viewer && socket.destroy()));
    socket.on('data', (chunk: Buffer) => {
      try {
        for (const item of reader.push(chunk)) {
          if (item.kind === 'message') answer(socket, item.message);
          // Receiver reports of ffmpeg's.
          else if (socket === viewer) forward(item.frame.bytes, client.socket, socket);
        }
      } catch {
        socket.destroy();
      }
    });
  }

  function answer(socket: Socket, request: RtspMessage): void {
    const line = requestLine(request.startLine);
    if (line === null || !line.url.startsWith(url))
      throw new RtspProtocolError('Not a request to this relay');
    admit(socket);
    const reply = (headers: RtspHeader[] = [], body = ''): void => {
      const number = headerValue(request, 'cseq') ?? '0';
      socket.write(formatMessage('RTSP/1.0 200 OK', [['CSeq', number], ...headers], body));
    };
    switch (line.method) {
      case 'OPTIONS':
        return reply([['Public', 'OPTIONS, DESCRIBE, SETUP, PLAY, TEARDOWN']]);
      case 'DESCRIBE':
        return reply([['Content-Type', 'application/sdp']], describeTrack(stream.track, `${url}/video`));
      case 'SETUP':
        return reply([
          ['Session', `1;timeout=${setup.timeoutSeconds}`],
          ['Transport', setup.transport],
        ]);
      case 'PLAY':
        // Before the server has answered: ffmpeg drops the frames that come before its answer, parameter sets among them.
        reply([['Session', '1']]);
        return play(socket);
      case 'TEARDOWN':
        return close();
      default:
        return reply();
    }
  }

  /** The first who knows the path is ffmpeg; nobody else is let in after it. */
  function admit(socket: Socket): void {
    if (viewer !== null && viewer !== socket) throw new RtspProtocolError('The relay has its viewer');
    viewer = socket;
    server.close();
  }

  function play(socket: Socket): void {
    const keyFrame = until === 'key frame' ? watchForKeyFrameEnd(stream.track) : null;
    client.onFrame((frame) => {
      if (!setup.isOurs(frame)) return;
      if (socket.writableEnded) return;
      lastFrameAt = now();
      forward(frame.bytes, socket, client.socket);
      if (keyFrame?.isPast(frame.bytes)) socket.end();
    });
    setup.play().catch(close);
  }

  function close(): void {
    server.close();
    viewer?.destroy();
    setup.leave();
  }
}

/** ffmpeg connects within milliseconds and speaks first. */
const strangerTimeoutMs = 2_000;

function listen(server: Server): Promise<number> {
  const { promise, resolve, reject } = Promise.withResolvers<number>();
  server.once('error', reject);
  server.listen(0, '127.0.0.1', () => {
    const address = server.address();
    if (address !== null && typeof address === 'object') resolve(address.port);
  });
  return promise;
}

/** The sender waits until the receiver has taken what was written. */
function forward(bytes: Uint8Array, to: Socket, from: Socket): void {
  if (to.destroyed || to.write(bytes) || from.isPaused()) return;
  from.pause();
  to.once('drain', () => from.resume());
}
