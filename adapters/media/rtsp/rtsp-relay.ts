import { randomBytes } from 'node:crypto';
import { createServer, type Server, type Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { RtspProtocolError } from './protocol/errors.ts';
import type { DescribedStream } from './connection/describe.ts';
import {
  formatMessage,
  headerValue,
  requestLine,
  type RtspHeader,
  type RtspMessage,
} from './protocol/message.ts';
import { createRtspReader } from './protocol/reader.ts';
import { setUpTrack, type TrackSetup } from './connection/track-setup.ts';
import { describeTrack, type VideoTrack } from './protocol/sdp.ts';
import { createPacketOrder, readRtp } from './rtp/rtp-packet.ts';

/** RTSP server on loopback with one track, for one ffmpeg process. Relays a stream that is already described. */
export type RtspRelay = {
  /** URL for ffmpeg. It contains nothing of the real stream, because ffmpeg reads options from a URL query. */
  url: string;
  /** Time of the newest relayed frame; null before the first one. */
  lastFrameAt(): Date | null;
  /** Returns true if a packet was missing. */
  isDamaged(): boolean;
  /** Closes both connections. */
  close(): Promise<void>;
};

/**
 * Sets up the track over TCP only and waits for one client that knows the secret path. The requests of ffmpeg end here:
 * it reads no text of the server, so no redirect, address or header can lead it elsewhere. Interleaved frames of whole
 * pictures pass unchanged, with back-pressure. If one side closes, the other closes too. Takes over `stream.client`.
 * Throws like `setUpTrack`.
 */
export async function openRtspRelay(stream: DescribedStream, now: () => Date): Promise<RtspRelay> {
  const { client } = stream;
  const setup = await setUpTrack(stream);
  const path = randomBytes(16).toString('hex');
  const server = createServer();
  const port = await listen(server);
  const url = `rtsp://127.0.0.1:${port}/${path}`;
  let viewer: Socket | null = null;
  let lastFrameAt: Date | null = null;
  const pictures = createWholePictures(stream.track);

  server.on('connection', (socket) => serveViewer(socket));
  client.onEnd(() => {
    // Received frames are still relayed.
    viewer?.end();
    server.close();
  });

  return {
    url,
    lastFrameAt: () => lastFrameAt,
    isDamaged: pictures.isDamaged,
    close: async () => close(),
  };

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
          // RTCP receiver reports of ffmpeg.
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
    if (line.method === 'TEARDOWN') return close();
    const { headers, body } = replyTo(line.method, stream.track, setup, url);
    const number = headerValue(request, 'cseq') ?? '0';
    socket.write(formatMessage('RTSP/1.0 200 OK', [['CSeq', number], ...headers], body));
    // After the response: ffmpeg drops frames before it, with their parameter sets.
    if (line.method === 'PLAY') play(socket);
  }

  /** Accepts the first client that knows the path, which is ffmpeg, and rejects all others. */
  function admit(socket: Socket): void {
    if (viewer !== null && viewer !== socket) throw new RtspProtocolError('The relay already has a client');
    viewer = socket;
    server.close();
  }

  function play(socket: Socket): void {
    client.onFrame((frame) => {
      if (!setup.isOurs(frame)) return;
      if (socket.writableEnded) return;
      for (const bytes of pictures.push(frame.bytes)) {
        lastFrameAt = now();
        forward(bytes, socket, client.socket);
      }
    });
    setup.play().catch(close);
  }

  function close(): void {
    server.close();
    viewer?.destroy();
    setup.leave();
  }
}

type Reply = { headers: RtspHeader[]; body?: string };

function replyTo(method: string, track: VideoTrack, setup: TrackSetup, url: string): Reply {
  switch (method) {
    case 'OPTIONS':
      return { headers: [['Public', 'OPTIONS, DESCRIBE, SETUP, PLAY, TEARDOWN']] };
    case 'DESCRIBE':
      return {
        headers: [['Content-Type', 'application/sdp']],
        body: describeTrack(track, `${url}/video`),
      };
    case 'SETUP':
      return {
        headers: [
          ['Session', `1;timeout=${setup.timeoutSeconds}`],
          ['Transport', setup.transport],
        ],
      };
    case 'PLAY':
      return { headers: [['Session', '1']] };
    default:
      return { headers: [] };
  }
}

/** Timeout for other clients. ffmpeg connects within milliseconds and sends first. */
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

/** Pauses the sender until the receiver has taken the bytes. */
function forward(bytes: Uint8Array, to: Duplex, from: Duplex): void {
  if (to.destroyed || to.write(bytes) || from.isPaused()) return;
  from.pause();
  to.once('drain', () => from.resume());
}

/** Codecs of which all packets of a picture have the same timestamp. */
const withPictures: readonly VideoTrack['codec'][] = ['JPEG', 'MP4V-ES', 'VP8', 'VP9'];
const maxHeldBytes = 4 * 1024 * 1024;

/** Creates the filter of packets on their way to ffmpeg, of a track whose pictures are not read here. */
export function createWholePictures({ codec, payloadType }: Pick<VideoTrack, 'codec' | 'payloadType'>) {
  const findPlace = createPacketOrder();
  const hasPictures = withPictures.includes(codec);
  let timestamp: number | null = null;
  let held: Uint8Array[] = [];
  let heldBytes = 0;
  let isWhole = true;
  let isDamaged = false;
  return {
    push,
    /** Returns true if a packet was missing. */
    isDamaged: () => isDamaged,
  };

  /**
   * Reads an interleaved packet, including its four-byte header. Returns the packets that can pass now: those of
   * whole pictures, as far as the codec shows them.
   */
  function push(frame: Uint8Array): Uint8Array[] {
    const packet = readRtp(frame);
    if (packet?.payloadType !== payloadType) return [frame];
    const place = findPlace(packet);
    if (place === 'none') return [];
    const isLost = place === 'after loss';
    isDamaged ||= isLost;
    if (!hasPictures) return [frame];
    if (isLost) isWhole = false;
    const before = packet.timestamp === timestamp ? [] : release();
    if (packet.timestamp !== timestamp) isWhole = !isLost;
    timestamp = packet.timestamp;
    heldBytes += frame.length;
    if (heldBytes > maxHeldBytes) [held, isWhole] = [[], false];
    held.push(frame);
    return packet.isMarked ? [...before, ...release()] : before;
  }

  function release(): Uint8Array[] {
    const released = isWhole ? held : [];
    [held, heldBytes] = [[], 0];
    return released;
  }
}
