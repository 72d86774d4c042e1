import type { DescribedStream } from './describe.ts';
import { RtspStatusError } from '../protocol/errors.ts';
import { headerValue, type RtspHeader } from '../protocol/message.ts';
import type { InterleavedFrame } from '../protocol/reader.ts';

/** Track that is set up at the server and ready to play. */
export type TrackSetup = Awaited<ReturnType<typeof setUpTrack>>;

/**
 * Sends SETUP for TCP only. Throws `RtspStatusError` (461 if the server selects another transport), and like
 * `RtspClient.request`.
 */
export async function setUpTrack({ client, track, keepAliveMethod }: DescribedStream) {
  const answer = await client.request('SETUP', track.controlUrl, [['Transport', transportOver('0-1')]]);
  const channels = interleavedChannels(headerValue(answer, 'transport') ?? '');
  if (channels === null) throw new RtspStatusError(unsupportedTransport);
  const ours = new Set(channels.split('-').map(Number));
  const [id = '', ...parameters] = (headerValue(answer, 'session') ?? '').split(';');
  const session: RtspHeader[] = id === '' ? [] : [['Session', id.trim()]];
  const timeoutSeconds = readTimeout(parameters);
  let keepAlive: NodeJS.Timeout | null = null;
  let left = false;
  return {
    /** Transport header for the client, with the channels that the server selected. */
    transport: transportOver(channels),
    /**
     * Returns true for a complete frame of this track. Cameras also send frames of other tracks, and ffmpeg loses
     * sync after a short one.
     */
    isOurs: ({ channel, bytes }: InterleavedFrame) => ours.has(channel) && bytes.length >= minFrameBytes,
    /** Session timeout of the server, in seconds. */
    timeoutSeconds,
    async play(): Promise<void> {
      await client.request('PLAY', track.sessionUrl, [...session, ['Range', 'npt=0.000-']]);
      // Any response keeps the session alive, also an error.
      const beat = (): void =>
        void client.request(keepAliveMethod, track.sessionUrl, session).catch(() => undefined);
      keepAlive = setInterval(beat, (timeoutSeconds * 1000) / 2);
      client.onEnd(() => clearInterval(keepAlive ?? undefined));
    },
    /** Sends TEARDOWN, so that a camera with few sessions frees this one immediately, and closes the connection. */
    leave(): void {
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

/** Minimum length, in bytes: four of interleaving and eight of the shortest RTCP packet. */
const minFrameBytes = 12;
const unsupportedTransport = 461;
const goodbyeMs = 500;

function transportOver(channels: string): string {
  return `RTP/AVP/TCP;unicast;interleaved=${channels}`;
}

/**
 * Returns the channels of a Transport header, or null for another transport. Without channels, the requested ones
 * apply; with one channel, RTCP uses the next one. Some servers omit `/TCP` and only give channels.
 */
function interleavedChannels(transport: string): string | null {
  const [, first, last] = /;\s*interleaved\s*=\s*"?(\d{1,3})(?:\s*-\s*(\d{1,3}))?/i.exec(transport) ?? [];
  if (first !== undefined && /^RTP\/AVP/i.test(transport))
    return `${Number(first)}-${Number(last ?? Number(first) + 1)}`;
  return /^RTP\/AVPF?\/TCP/i.test(transport) ? '0-1' : null;
}

/** Returns the session timeout in seconds, 60 by default (RFC 2326, 12.37). */
function readTimeout(parameters: string[]): number {
  const seconds = parameters
    .map((text) => /^\s*timeout\s*=\s*(\d{1,5})/i.exec(text)?.[1])
    .find((text) => text !== undefined);
  return Math.max(2, Number(seconds ?? 60));
}
