import type { Socket } from 'node:net';
import { writeRtp } from '../../support/rtsp/rtp-packets.ts';
import { liveSdp, startScriptedServer, type ScriptedAnswer } from '../../support/rtsp/scripted-server.ts';

/** Ten cameras that cost as much as they can. */

/** Writes the next packet of a camera. Without a timestamp, it begins an access unit. */
type WritePacket = (payload: Uint8Array, timestamp?: number) => Buffer;

type Camera = {
  description?: string;
  /** Returns the bytes of a round, which is sent every 5 ms. */
  play: (packet: WritePacket) => Buffer;
};

function createPackets(): WritePacket {
  let sequence = 0;
  return (payload, timestamp) =>
    writeRtp({ sequence: (sequence += 1), timestamp: timestamp ?? sequence * 90, payload });
}

const repeat = (count: number, make: (index: number) => Buffer): Buffer =>
  Buffer.concat(Array.from({ length: count }, (_, index) => make(index)));
const set = (type: number, bytes: number): Buffer => Buffer.alloc(bytes, 0x55).fill(type, 0, 1);
let hasSets = false;
const h265 = liveSdp.replaceAll('H264', 'H265').replace(/a=fmtp.*\r\n/, '');
const trickled = Buffer.from(
  `RTSP/1.0 200 OK\r\n${'X: y\r\n'.repeat(90)}Content-Length: 60000\r\n\r\n${'z'.repeat(60_000)}`,
);
let trickledAt = 0;

export const rtspCameras: Camera[] = [
  // Large parameter sets, and then key frames of three bytes.
  {
    play: (packet) => {
      if (hasSets) return repeat(60, () => packet(Buffer.from([0x65, 0x88, 1])));
      hasSets = true;
      return Buffer.concat([packet(set(0x67, 1400), 1), packet(set(0x68, 1400), 1)]);
    },
  },
  { play: (packet) => repeat(60, () => packet(Buffer.from([0x41, 0x9a, 1]))) },
  { play: () => trickled.subarray(trickledAt, (trickledAt = (trickledAt + 20) % trickled.length)) },
  {
    play: (packet) =>
      repeat(15, (index) => packet(Buffer.alloc(1400, 0x7c).fill(index === 0 ? 0x85 : 5, 1, 2), 1)),
  },
  { description: h265, play: (packet) => repeat(15, () => packet(Buffer.alloc(1400, 0x62))) },
  {
    description: h265,
    play: (packet) => repeat(40, (id) => packet(Buffer.from([0x44, 1, 0x80 | (id & 63), 1, 2]), 1)),
  },
  { play: () => Buffer.alloc(200, 'x') },
  { play: () => Buffer.from('RTSP/1.0 100 Continue\r\n\r\n'.repeat(40)) },
  {
    description: `${liveSdp}a=range:npt=${' '.repeat(60_000)}x\r\n`,
    play: (packet) => repeat(10, () => packet(Buffer.alloc(60, 0x78))),
  },
  { play: (packet) => repeat(60, () => Buffer.concat([packet(Buffer.alloc(1), 1), Buffer.from('\r\n')])) },
];

function flood(socket: Socket, play: Camera['play']): void {
  const packet = createPackets();
  const timer = setInterval(() => {
    if (socket.destroyed) clearInterval(timer);
    else if (socket.writableLength < 1e6) socket.write(play(packet));
  }, 5);
}

/** Starts a camera. */
export function startCamera({ description = liveSdp, play }: Camera) {
  return startScriptedServer(({ method }, _url, socket): ScriptedAnswer => {
    if (method === 'DESCRIBE') return { status: 200, body: description };
    if (method === 'SETUP')
      return { status: 200, headers: { Session: 'a', Transport: 'RTP/AVP/TCP;unicast;interleaved=0-1' } };
    if (method === 'PLAY') setTimeout(() => flood(socket, play), 20);
    return { status: 200 };
  });
}
