import type { Socket } from 'node:net';
import { formatMessage, headerValue, requestLine } from '../../adapters/media/rtsp/protocol/message.ts';
import type { RtspHeader, RtspMessage } from '../../adapters/media/rtsp/protocol/message.ts';
import { createRtspReader } from '../../adapters/media/rtsp/protocol/reader.ts';
import { trackName, type Publication } from './rtsp-publication.ts';

/** Serves one RTSP connection until it closes. Sends the stream as interleaved frames after PLAY. */
export function serveViewer(socket: Socket, publication: Publication, path: string): void {
  const reader = createRtspReader();
  let channel = 0;
  let stop: (() => void) | null = null;

  socket.on('error', () => undefined);
  socket.on('close', () => stop?.());
  socket.on('data', (chunk: Buffer) => {
    try {
      for (const item of reader.push(chunk)) if (item.kind === 'message') void handle(item.message);
    } catch {
      socket.destroy();
    }
  });

  async function handle(request: RtspMessage): Promise<void> {
    const line = requestLine(request.startLine);
    if (line === null) return void socket.destroy();
    const respond = (status: string, headers: RtspHeader[] = [], body = ''): void => {
      const all: RtspHeader[] = [['CSeq', headerValue(request, 'cseq') ?? '0'], ...headers];
      if (!socket.destroyed) socket.write(formatMessage(`RTSP/1.0 ${status}`, all, body));
    };
    if (line.method !== 'OPTIONS' && !isKnownPath(line.url, path)) return respond('404 Not Found');
    switch (line.method) {
      case 'OPTIONS':
        return respond('200 OK', [['Public', methods]]);
      case 'DESCRIBE':
        return describe(line.url, respond);
      case 'SETUP':
        return setUp(headerValue(request, 'transport') ?? '', respond);
      case 'PLAY':
        respond('200 OK', [session, ['Range', 'npt=now-']]);
        stop ??= publication.watch(send);
        return;
      case 'TEARDOWN':
        respond('200 OK', [session]);
        return void socket.end();
      case 'GET_PARAMETER':
      case 'SET_PARAMETER':
        return respond('200 OK', [session]);
      default:
        return respond('501 Not Implemented');
    }
  }

  async function describe(url: string, respond: Respond): Promise<void> {
    try {
      const description = await publication.description();
      respond(
        '200 OK',
        [
          ['Content-Base', `${url.replace(/\/$/, '')}/`],
          ['Content-Type', 'application/sdp'],
        ],
        description,
      );
    } catch {
      respond('503 Service Unavailable');
    }
  }

  function setUp(transport: string, respond: Respond): void {
    if (!transport.includes('RTP/AVP/TCP')) return respond('461 Unsupported Transport');
    channel = Number(/interleaved=(\d{1,3})/.exec(transport)?.[1] ?? 0) % 255;
    respond('200 OK', [session, ['Transport', `RTP/AVP/TCP;unicast;interleaved=${channel}-${channel + 1}`]]);
  }

  function send(packet: Buffer): void {
    // Disconnects a viewer that does not read, so that unsent data stays bounded.
    if (socket.writableLength > maxUnsentBytes) return void socket.destroy();
    const head = Buffer.from([0x24, channel, packet.length >> 8, packet.length & 0xff]);
    socket.write(Buffer.concat([head, packet]));
  }
}

type Respond = (status: string, headers?: RtspHeader[], body?: string) => void;

const maxUnsentBytes = 8 * 1024 * 1024;
const methods = 'OPTIONS, DESCRIBE, SETUP, PLAY, GET_PARAMETER, SET_PARAMETER, TEARDOWN';
/** Constant session id: each connection has exactly one session. */
const session: RtspHeader = ['Session', '1;timeout=60'];

function isKnownPath(url: string, path: string): boolean {
  const requested = URL.parse(url)?.pathname.replace(/\/$/, '');
  return requested === path || requested === `${path}/${trackName}`;
}
