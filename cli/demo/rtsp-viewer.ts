import type { Socket } from 'node:net';
import { formatMessage, headerValue, requestLine } from '../../adapters/media/rtsp/message.ts';
import type { RtspHeader, RtspMessage } from '../../adapters/media/rtsp/message.ts';
import { createRtspReader } from '../../adapters/media/rtsp/reader.ts';
import { trackName, type Publication } from './rtsp-publication.ts';

/** Serves one connection until it closes: any number of requests, and the stream's packets interleaved after PLAY. */
export function serveViewer(socket: Socket, publication: Publication, path: string): void {
  const reader = createRtspReader();
  let channel = 0;
  let stop: (() => void) | null = null;

  socket.on('error', () => undefined);
  socket.on('close', () => stop?.());
  socket.on('data', (chunk: Buffer) => {
    try {
      for (const item of reader.push(chunk)) if (item.kind === 'message') void answer(item.message);
    } catch {
      socket.destroy();
    }
  });

  async function answer(request: RtspMessage): Promise<void> {
    const line = requestLine(request.startLine);
    if (line === null) return void socket.destroy();
    const reply = (status: string, headers: RtspHeader[] = [], body = ''): void => {
      const all: RtspHeader[] = [['CSeq', headerValue(request, 'cseq') ?? '0'], ...headers];
      if (!socket.destroyed) socket.write(formatMessage(`RTSP/1.0 ${status}`, all, body));
    };
    if (line.method !== 'OPTIONS' && !isOurs(line.url, path)) return reply('404 Not Found');
    switch (line.method) {
      case 'OPTIONS':
        return reply('200 OK', [['Public', methods]]);
      case 'DESCRIBE':
        return describe(line.url, reply);
      case 'SETUP':
        return setUp(headerValue(request, 'transport') ?? '', reply);
      case 'PLAY':
        reply('200 OK', [session, ['Range', 'npt=now-']]);
        stop ??= publication.watch(send);
        return;
      case 'TEARDOWN':
        reply('200 OK', [session]);
        return void socket.end();
      case 'GET_PARAMETER':
      case 'SET_PARAMETER':
        return reply('200 OK', [session]);
      default:
        return reply('501 Not Implemented');
    }
  }

  async function describe(url: string, reply: Reply): Promise<void> {
    try {
      const description = await publication.description();
      reply(
        '200 OK',
        [
          ['Content-Base', `${url.replace(/\/$/, '')}/`],
          ['Content-Type', 'application/sdp'],
        ],
        description,
      );
    } catch {
      reply('503 Service Unavailable');
    }
  }

  function setUp(transport: string, reply: Reply): void {
    if (!transport.includes('RTP/AVP/TCP')) return reply('461 Unsupported Transport');
    channel = Number(/interleaved=(\d{1,3})/.exec(transport)?.[1] ?? 0) % 255;
    reply('200 OK', [session, ['Transport', `RTP/AVP/TCP;unicast;interleaved=${channel}-${channel + 1}`]]);
  }

  function send(packet: Buffer): void {
    // A viewer that does not read is let go, so that it does not fill the memory of a live server.
    if (socket.writableLength > maxUnsentBytes) return void socket.destroy();
    const head = Buffer.from([0x24, channel, packet.length >> 8, packet.length & 0xff]);
    socket.write(Buffer.concat([head, packet]));
  }
}

type Reply = (status: string, headers?: RtspHeader[], body?: string) => void;

const maxUnsentBytes = 8 * 1024 * 1024;
const methods = 'OPTIONS, DESCRIBE, SETUP, PLAY, GET_PARAMETER, SET_PARAMETER, TEARDOWN';
/** One connection is one session, so its name is all the same. */
const session: RtspHeader = ['Session', '1;timeout=60'];

function isOurs(url: string, path: string): boolean {
  const asked = URL.parse(url)?.pathname.replace(/\/$/, '');
  return asked === path || asked === `${path}/${trackName}`;
}
