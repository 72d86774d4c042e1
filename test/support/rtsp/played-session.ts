import { Socket } from 'node:net';
import { createEgressGuard } from '../../../adapters/egress/guard.ts';
import type { FfmpegRunner } from '../../../adapters/media/ffmpeg/run-ffmpeg.ts';
import { createRtspCapturer } from '../../../adapters/media/rtsp/capture-rtsp.ts';
import { createJoinClip } from '../../../adapters/media/clips/join-clip.ts';
import { createKeptStreams } from '../../../adapters/media/clips/kept-stream.ts';
import { withoutTurns } from '../../../adapters/media/ffmpeg/in-turn.ts';
import { nameStream, toGroupPart } from '../../../adapters/media/rtsp/clip-rtsp.ts';
import { ffmpegPath } from '../hls/recording.ts';
import { createHandedConnections } from '../../../adapters/media/rtsp/connection/connection-turns.ts';
import { createKeyFrameMemory } from '../../../adapters/media/rtsp/session/key-frame-store.ts';
import { createSessionMemory } from '../../../adapters/media/rtsp/session/session-memory.ts';
import { openKeptSession } from '../../../adapters/media/rtsp/session/kept-session.ts';
import { nalRules } from '../../../adapters/media/rtsp/rtp/nal-units.ts';
import type { InterleavedFrame } from '../../../adapters/media/rtsp/protocol/reader.ts';
import type { CaptureRequest } from '../../../core/records/capture.ts';
import type { ClipRequest } from '../../../core/records/clip.ts';
import { recordRtp, type RtpRecordingOptions } from './rtp-recording.ts';

type Options = RtpRecordingOptions & {
  codec?: 'h264' | 'h265';
  /** Memory of all scans, in bytes. */
  maxBytes?: number;
  clipBytes?: number;
  /** Recording that follows in the same session, with the same description. */
  next?: RtpRecordingOptions;
  /** Changes the bytes of a frame, by its number in decoding order, before it is sent; `null` drops it. */
  change?: (packet: Buffer, frame: number) => Buffer | null;
};

/**
 * Opens a session whose camera plays a recording of ten frames per second on a clock that the test moves, and a
 * capturer for it.
 */
export async function openPlayedSession(
  ffmpeg: FfmpegRunner,
  { maxBytes = 1e8, clipBytes = 1e8, change = (packet) => packet, next, ...options }: Options,
) {
  const sent = (await mediaPackets(options)).concat(next ? await mediaPackets(next) : []);
  if (next) renumber(sent);
  const codec = options.codec === 'h265' ? 'H265' : 'H264';
  let nowMs = 0;
  let frame = 0;
  /** Difference of the wall clock. */
  let clockMs = Date.parse('2026-11-20T12:00:00Z');
  let take: (frame: InterleavedFrame) => void = () => undefined;
  const now = () => new Date(clockMs + nowMs);
  const toClock = (arrivedMs: number) => clockMs + arrivedMs;
  const kept = createKeptStreams({ maxBytes: clipBytes, now });
  const rules = nalRules({ codec, parameters: null })!;
  const session = await openKeptSession(
    {
      client: {
        request: async (method: string) => ({
          startLine: 'RTSP/1.0 200 OK',
          headers: method === 'SETUP' ? [['Transport', 'RTP/AVP/TCP;interleaved=0-1'] as const] : [],
          body: new Uint8Array(),
        }),
        onFrame: (taker) => void (take = taker),
        onEnd: () => undefined,
        limitBytes: () => undefined,
        countProduced: () => undefined,
        socket: new Socket(),
        close: () => undefined,
      },
      target: {
        url,
        shownUrl: url,
        host: 'camera.example',
        port: 554,
        isSecure: false,
        isTunnelled: false,
        credentials: null,
      },
      track: {
        codec,
        payloadType: 96,
        clockRate: 90_000,
        parameters: null,
        controlUrl: `${url}1`,
        sessionUrl: url,
      },
      keepAliveMethod: 'OPTIONS',
    },
    rules,
    {
      elapsedMs: () => nowMs,
      caller: 'ada',
      memory: createSessionMemory(1e9),
      keyFrames: createKeyFrameMemory(maxBytes),
      maxBytes: 1e8,
      keepGroup: (group) =>
        kept.add('ada', nameStream(url), toGroupPart(group, { codec, clockRate: 90_000 }, toClock)),
    },
  );
  const capturer = createRtspCapturer({
    guard: createEgressGuard({ allowRanges: [] }),
    ffmpeg,
    now,
    clips: { kept, join: createJoinClip({ ffmpegPath, inTurn: withoutTurns }) },
    sessions: {
      read: async (request, signal) => ({
        ...(await session.read(request, signal)),
        codec,
        clockRate: 90_000,
      }),
      keyFrameSeconds: async () => session.keyFrameSeconds(),
      probe: async () => undefined,
      follow: async () => undefined,
      handed: createHandedConnections(() => () => undefined),
      close: async () => undefined,
    },
  });
  return {
    /** Plays the recording up to a time, in seconds. */
    playTo(seconds: number): void {
      let timestamp: number | undefined;
      while (sent[0] && (frame < seconds * 10 || sent[0].readUInt32BE(4) === timestamp)) {
        const packet = sent.shift()!;
        if (timestamp !== packet.readUInt32BE(4)) {
          frame += 1;
          nowMs = frame * 100;
        }
        timestamp = packet.readUInt32BE(4);
        const bytes = change(packet, frame - 1);
        if (bytes) take({ channel: 0, bytes: Buffer.concat([Buffer.from([0x24, 0, 0, 0]), bytes]) });
      }
    },
    /** Reads a clip of this span of the recording, in seconds. */
    clip: async (openedAt: number, before: number, after: number, regions: ClipRequest['regions'] = null) => {
      const at = (seconds: number) => new Date(clockMs + seconds * 1000);
      const span = { openedAt: at(openedAt), from: at(openedAt - before), to: at(openedAt + after) };
      let film = new Uint8Array();
      const store = async (stored: Uint8Array) => void (film = new Uint8Array(stored));
      const wanted = { url, caller: 'ada', mode: 'frames', regions, store, ...span } as const;
      const result = await capturer.clip?.(wanted, AbortSignal.timeout(30_000));
      if (!result) throw new Error('The capturer has no clips');
      return { ...result, film };
    },
    /** Loses what is kept, as a restart does. */
    forget: () => kept.removeCaller('ada'),
    setClock: (byMs: number) => void (clockMs += byMs),
    capture: (mode: CaptureRequest['mode'], clipSeconds = 3) =>
      capturer.capture({ ...request, mode, clipSeconds }, AbortSignal.timeout(30_000)),
    lookBack: (since: string | null, more: Partial<CaptureRequest> = {}) =>
      capturer.capture({ ...request, lookBack: { since }, ...more }, AbortSignal.timeout(30_000)),
  };
}

const url = 'rtsp://camera.example/';
const request = { url, mode: 'frames', clipSeconds: 3, resolveAgain: false, caller: 'ada' } as const;

async function mediaPackets(options: RtpRecordingOptions): Promise<Buffer[]> {
  const { packets } = await recordRtp(options);
  return packets.filter(({ isControl }) => !isControl).map(({ bytes }) => Buffer.from(bytes));
}

/** Numbers packets of several recordings like those of one, with frames 0.1 s apart. */
function renumber(packets: Buffer[]): void {
  let frames = 0;
  let before: number | undefined;
  for (const [index, packet] of packets.entries()) {
    if (packet.readUInt32BE(4) !== before) frames += 1;
    before = packet.readUInt32BE(4);
    packet.writeUInt16BE(index & 0xffff, 2);
    packet.writeUInt32BE(frames * 9_000, 4);
  }
}
