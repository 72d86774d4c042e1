import type { DescribedStream } from './describe.ts';
import { RtspStatusError } from './errors.ts';
import { headerValue, type RtspHeader } from './message.ts';
import type { InterleavedFrame } from './reader.ts';

/** A track that is set up at the server and can be played. */
export type TrackSetup = {
  /** The Transport header for whoever reads the frames, with the channels that the server chose. */
  transport: string;
  /** Of the track, and whole: cameras send those of other tracks too, and ffmpeg loses its way after one that is too short. */
  isOurs(frame: InterleavedFrame): boolean;
  /** How soon the server wants to hear from us. */
  timeoutSeconds: number;
  play(): Promise<void>;
  /** Says goodbye, so that a camera with few places has this one free at once, and closes the connection. */
  leave(): void;
};

/** SETUP over TCP and nothing else. Throws `RtspStatusError` (461 where the server answers with another transport), and as `RtspClient.request`. */
export async function setUpTrack({ client, track, keepAliveMethod }: DescribedStream): Promise<TrackSetup> {
  const answer = await client.request('SETUP', track.controlUrl, [['Transport', transportOver('0-1')]]);
  const channels = interleavedChannels(headerValue(answer, 'transport') ?? '');
  if (channels === null) throw new RtspStatusError(unsupportedTransport);
  const [id = '', ...parameters] = (headerValue(answer, 'session') ?? '').split(';');
  const session: RtspHeader[] = id === '' ? [] : [['Session', id.trim()]];
  const timeoutSeconds = readTimeout(parameters);
  let keepAlive: NodeJS.Timeout | null = null;
  let left = false;
  return {
    transport: transportOver(channels),
    isOurs: ({ channel, bytes }) =>
      channels.split('-').includes(`${channel}`) && bytes.length >= shortestFrameBytes,
    timeoutSeconds,
    async play() {
      await client.request('PLAY', track.sessionUrl, [...session, ['Range', 'npt=0.000-']]);
      // Whatever it answers, it has heard from us.
      const beat = (): void =>
        void client.request(keepAliveMethod, track.sessionUrl, session).catch(() => undefined);
      keepAlive = setInterval(beat, (timeoutSeconds * 1000) / 2);
      client.onEnd(() => clearInterval(keepAlive ?? undefined));
    },
    leave() {
      if (left) return;
      left = true;
      clearInterval(keepAlive ?? undefined);
      client.socket.resume();
      client.onFrame(() => undefined);
      void client
        .request('TEARDOWN', track.sessionUrl, session)
        .catch(() => undefined)
        .finally(() => client.close());
      setTimeout(() => client.close(), goodbyeMs).unref();
    },
  };
}

/** Four of interleaving, eight of the shortest RTCP packet. */
const shortestFrameBytes = 12;
const unsupportedTransport = 461;
const goodbyeMs = 500;

function transportOver(channels: string): string {
  return `RTP/AVP/TCP;unicast;interleaved=${channels}`;
}

/**
 * A server that names no channels has taken those that were asked for, and one that names the first alone means the next one for RTCP.
 * Some leave the `/TCP` out, and say by the channels what they mean.
 */
function interleavedChannels(transport: string): string | null {
  const [, first, last] = /;\s*interleaved\s*=\s*"?(\d{1,3})(?:\s*-\s*(\d{1,3}))?/i.exec(transport) ?? [];
  if (first !== undefined && /^RTP\/AVP/i.test(transport))
    return `${Number(first)}-${Number(last ?? Number(first) + 1)}`;
  return /^RTP\/AVPF?\/TCP/i.test(transport) ? '0-1' : null;
}

/** 60 s where the server says nothing (RFC 2326, 12.37). */
function readTimeout(parameters: string[]): number {
  const seconds = parameters
    .map((text) => /^\s*timeout\s*=\s*(\d{1,5})/i.exec(text)?.[1])
    .find((text) => text !== undefined);
  return Math.max(2, Number(seconds ?? 60));
}
