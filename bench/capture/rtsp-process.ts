/**
 * Plays a file in a loop like a camera: `node rtsp-process.ts FFMPEG FILE`. ffmpeg creates RTP in real time. Every
 * viewer gets it over interleaved TCP from the current position, with or without a key frame.
 */
import { spawn } from 'node:child_process';
import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { createServer, type Socket } from 'node:net';
import {
  formatMessage,
  headerValue,
  requestLine,
  type RtspMessage,
} from '../../adapters/media/rtsp/message.ts';
import { createRtspReader } from '../../adapters/media/rtsp/reader.ts';

const [ffmpegPath = '', file = ''] = process.argv.slice(2);
const viewers = new Set<Socket>();
const rtp = createSocket('udp4');
rtp.bind(0, '127.0.0.1');
await once(rtp, 'listening');
const firstPacket = once(rtp, 'message').then(() => Date.now());
const camera = spawn(
  ffmpegPath,
  `-nostdin -loglevel error -re -stream_loop -1 -i ${file} -an -c copy -f rtp -sdp_file pipe:1 rtp://127.0.0.1:${rtp.address().port}?pkt_size=1400`.split(
    ' ',
  ),
  { stdio: ['ignore', 'pipe', 'inherit'] },
);
process.on('disconnect', () => process.exit());
process.on('exit', () => camera.kill('SIGKILL'));
const [described]: Buffer[] = await once(camera.stdout, 'data');
const sdp = `${described!
  .toString()
  .replace(/^SDP:\n/, '')
  .replace(/m=video \d+/, 'm=video 0')
  .trim()}\r\na=control:track1\r\n`;
const startedAtMs = await firstPacket;

rtp.on('message', (packet) => {
  const head = Buffer.from([0x24, 0, 0, 0]);
  head.writeUInt16BE(packet.length, 2);
  for (const viewer of viewers) viewer.write(Buffer.concat([head, packet]));
});

const server = createServer((socket) => {
  const reader = createRtspReader();
  socket.on('error', () => undefined);
  socket.on('close', () => viewers.delete(socket));
  socket.on('data', (chunk) => {
    for (const item of reader.push(chunk)) if (item.kind === 'message') answer(item.message, socket);
  });
});
server.listen(0, '127.0.0.1', () => {
  const address = server.address();
  process.send?.(JSON.stringify({ port: typeof address === 'object' ? address?.port : 0, startedAtMs }));
});

function answer(request: RtspMessage, socket: Socket): void {
  const line = requestLine(request.startLine);
  const reply = (headers: [string, string][] = [], body = ''): void => {
    const number = headerValue(request, 'cseq') ?? '0';
    socket.write(formatMessage('RTSP/1.0 200 OK', [['CSeq', number], ['Session', '1'], ...headers], body));
  };
  switch (line?.method) {
    case 'DESCRIBE':
      return reply([['Content-Type', 'application/sdp']], sdp);
    case 'SETUP':
      return reply([['Transport', 'RTP/AVP/TCP;unicast;interleaved=0-1']]);
    case 'PLAY':
      reply();
      return void viewers.add(socket);
    case 'TEARDOWN':
      return void viewers.delete(socket);
    default:
      return reply([['Public', 'OPTIONS, DESCRIBE, SETUP, PLAY, TEARDOWN']]);
  }
}
