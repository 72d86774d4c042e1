import { createServer, isIPv6, type Socket } from 'node:net';
import { createServer as createTlsServer, type TlsOptions } from 'node:tls';
import {
  formatMessage,
  headerValue,
  requestLine,
  type RtspMessage,
} from '../../../adapters/media/rtsp/protocol/message.ts';
import { createRtspReader } from '../../../adapters/media/rtsp/protocol/reader.ts';

export type ScriptedRequest = {
  method: string;
  url: string;
  header(name: string): string | undefined;
  body: string;
};
/** Response of the server; `null` for none. `raw` is sent unchanged. */
export type ScriptedAnswer =
  | { status: number; headers?: Record<string, string>; body?: string }
  | { raw: string }
  | null;

/** Starts an RTSP server whose responses are a function of the request. `wire` changes the text of a response. */
export async function startScriptedServer(
  answer: (request: ScriptedRequest, url: string, socket: Socket) => ScriptedAnswer,
  wire: (message: string) => string = (message) => message,
  host = '127.0.0.1',
  tls?: TlsOptions,
): Promise<{ url: string; requests: ScriptedRequest[]; frames: Buffer[]; close(): Promise<void> }> {
  const requests: ScriptedRequest[] = [];
  const frames: Buffer[] = [];
  const sockets = new Set<Socket>();
  const serve = (socket: Socket): void => {
    sockets.add(socket);
    const reader = createRtspReader();
    socket.on('error', () => undefined);
    socket.on('data', (chunk: Buffer) => {
      for (const item of reader.push(chunk)) {
        if (item.kind === 'frame') frames.push(Buffer.from(item.frame.bytes));
        else if (requestLine(item.message.startLine) !== null) respond(item.message, socket);
      }
    });
  };
  const server = tls ? createTlsServer(tls, serve) : createServer(serve);
  await new Promise<void>((resolve) => server.listen(0, host, resolve));
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('The server has no port');
  const url = `${tls ? 'rtsps' : 'rtsp'}://${isIPv6(host) ? `[${host}]` : host}:${address.port}/cam`;

  function respond(message: RtspMessage, socket: Socket): void {
    const line = requestLine(message.startLine)!;
    const body = Buffer.from(message.body).toString();
    const request = { ...line, header: (name: string) => headerValue(message, name), body };
    requests.push(request);
    const scripted = answer(request, url, socket);
    if (scripted === null) return;
    if ('raw' in scripted) return void socket.write(scripted.raw);
    const headers = Object.entries({ CSeq: request.header('cseq') ?? '0', ...scripted.headers });
    socket.write(wire(formatMessage(`RTSP/1.0 ${scripted.status} Scripted`, headers, scripted.body)));
  }

  return {
    url,
    requests,
    frames,
    async close() {
      for (const socket of sockets) socket.destroy();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

const liveSdpLines =
  'v=0|o=- 1 1 IN IP4 127.0.0.1|s=cam|t=0 0|a=range:npt=now-|a=control:*|m=video 0 RTP/AVP 96|' +
  'a=rtpmap:96 H264/90000|a=fmtp:96 packetization-mode=1|a=control:track1|';
export const liveSdp = liveSdpLines.replaceAll('|', '\r\n');
