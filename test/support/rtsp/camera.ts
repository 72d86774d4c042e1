import type { Socket } from 'node:net';
import type { TlsOptions } from 'node:tls';
import type { RtpPacket, RtpRecording } from './rtp-recording.ts';
import { startScriptedServer, type ScriptedAnswer, type ScriptedRequest } from './scripted-server.ts';

/** Deviations of the camera. */
export type CameraOddities = {
  /** Returns a response that replaces that of the camera; undefined keeps it. */
  answer?: (request: ScriptedRequest) => ScriptedAnswer | undefined;
  /** Changes the SDP. */
  describe?: (description: string) => string;
  describeHeaders?: Record<string, string>;
  /** First channel of the pair, regardless of the request. */
  channel?: number;
  /** Returns the response to SETUP for a channel pair. */
  transport?: (channels: string) => string;
  /** Changes a packet; `null` drops it. */
  packet?: (packet: RtpPacket, index: number) => Buffer | null;
  /** Changes the text of a response. */
  wire?: (message: string) => string;
  /** Bytes before each interleaved frame. */
  between?: Buffer;
  /** Address to listen on. Default: 127.0.0.1. */
  host?: string;
  /** Certificate of a camera with `rtsps`. */
  tls?: TlsOptions;
  /** Number of packets after which the connection closes. */
  closesAfter?: number;
  /** True to send each packet at its time, like a live stream, instead of all packets together. */
  isPaced?: boolean;
  /** Plays to a viewer, instead of all packets together. */
  play?: (viewer: Socket) => void;
};

/**
 * Starts an RTSP camera that replays packets of ffmpeg, with the deviations of real cameras, until the viewer
 * disconnects.
 */
export async function startCamera(recording: RtpRecording, odd: CameraOddities = {}) {
  const video = parseTracks(recording.description).indexOf('video');
  const server = await startScriptedServer(
    (request, url, socket) => {
      const own = odd.answer?.(request);
      const channels = `${odd.channel ?? 0}-${(odd.channel ?? 0) + 1}`;
      if (request.method === 'PLAY' && own === undefined) setImmediate(() => begin(socket));
      return own !== undefined ? own : usual(request, url, channels);
    },
    odd.wire,
    odd.host,
    odd.tls,
  );

  function usual(request: ScriptedRequest, url: string, channels: string): ScriptedAnswer {
    const session = { Session: '12345678;timeout=60' };
    const transport = odd.transport?.(channels) ?? `RTP/AVP/TCP;unicast;interleaved=${channels}`;
    switch (request.method) {
      case 'OPTIONS':
        return { status: 200, headers: { Public: 'OPTIONS, DESCRIBE, SETUP, PLAY, TEARDOWN' } };
      case 'DESCRIBE':
        return {
          status: 200,
          headers: { 'Content-Base': `${url}/`, 'Content-Type': 'application/sdp', ...odd.describeHeaders },
          body: odd.describe?.(recording.description) ?? recording.description,
        };
      case 'SETUP':
        return { status: 200, headers: { ...session, Transport: transport } };
      default:
        return { status: 200, headers: session };
    }
  }

  function begin(socket: Socket): void {
    if (odd.play) odd.play(socket);
    else void play(socket);
  }

  async function play(socket: Socket): Promise<void> {
    const sent = recording.packets.filter(({ track }) => track === video);
    const times = sent.map(({ isControl, bytes }) => (isControl ? 0 : bytes.readUInt32BE(4) / 90));
    const beginsAtMs = performance.now() - (times.find((time) => time > 0) ?? 0);
    for (const [index, packet] of sent.entries()) {
      if (index === odd.closesAfter) return void socket.end();
      const waitMs = odd.isPaced ? beginsAtMs + times[index]! - performance.now() : 0;
      if (waitMs > 1) await new Promise((resolve) => setTimeout(resolve, waitMs));
      const bytes = odd.packet ? odd.packet(packet, index) : packet.bytes;
      if (bytes !== null && !socket.destroyed) socket.write(interleaved(packet, bytes));
    }
  }

  function interleaved(packet: RtpPacket, bytes: Buffer): Buffer {
    const head = Buffer.from([0x24, (odd.channel ?? 0) + (packet.isControl ? 1 : 0), 0, 0]);
    head.writeUInt16BE(bytes.length, 2);
    return Buffer.concat([odd.between ?? Buffer.alloc(0), head, bytes]);
  }

  return server;
}

export function parseTracks(description: string): string[] {
  return [...description.matchAll(/^m=(\w+)/gm)].map(([, type]) => type ?? '');
}
