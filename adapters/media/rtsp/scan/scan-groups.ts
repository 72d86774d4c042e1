import type { FfmpegOutput, FfmpegRunner } from '../../ffmpeg/run-ffmpeg.ts';
import { ptsPerSecond } from '../../mpeg-ts/pes-packet.ts';
import { writeTransportStream } from '../../mpeg-ts/write-transport-stream.ts';
import type { NumberedGroup } from '../session/key-frame-store.ts';
import type { SessionTrack } from '../session/open-sessions.ts';
import { rtpDifference } from '../rtp/rtp-packet.ts';

/** Group of pictures with the time of its key frame, and the frame up to which an earlier scan has seen it. */
export type DatedGroup = NumberedGroup & { atMs: number; seenTicks: number };

/** Frame between two key frames. */
export type DatedPicture = FfmpegOutput & { atMs: number };

/** Maximum frames of all groups of a scan: two groups of 20 s. */
const maxUnits = 1_200;
const timeoutMs = 5_000;
/**
 * Time of the frame of the capture on the clock of the groups, in seconds: a whole one, so that it is one of the
 * frames, with a reserve for rounding.
 */
const captureSeconds = 3600.001;

/**
 * Decodes the frames of groups at one a second before the capture, the newest groups first. Leaves out what the host
 * has no time for, and the rest of a group from a damaged frame on. The frame of the capture itself is among them.
 * Returns null if the host has no time for any. Throws the abort reason.
 */
export async function scanGroups(
  groups: readonly DatedGroup[],
  { codec, clockRate }: SessionTrack,
  captureMs: number,
  ffmpeg: FfmpegRunner,
  signal: AbortSignal,
): Promise<DatedPicture[] | null> {
  let found: DatedPicture[] | null = null;
  const endMs = performance.now() + timeoutMs;
  let leftUnits = maxUnits;
  for (const { units, atMs, seenTicks } of groups.toReversed()) {
    const [keyFrame] = units;
    const leftMs = Math.round(endMs - performance.now());
    leftUnits -= units.length;
    if (!keyFrame || !ffmpeg.runEachSecond || leftUnits < 0 || leftMs <= 0) break;
    const keyFrameSeconds = captureSeconds - (captureMs - atMs) / 1000;
    const timed = units.flatMap(({ bytes, isKeyFrame, timestamp }) => {
      const ticks = rtpDifference(keyFrame.timestamp, timestamp);
      // Frames that are shown before the key frame of an open group refer to the group before.
      if (ticks < 0) return [];
      return { bytes, isKeyFrame, pts: Math.round((keyFrameSeconds + ticks / clockRate) * ptsPerSecond) };
    });
    const chunks = [writeTransportStream(codec, timed)];
    const input = { kind: 'pipe', format: 'mpegts', chunks } as const;
    const clock = { fromSeconds: keyFrameSeconds + seenTicks / clockRate, isRebased: false };
    const pictures = await ffmpeg
      .runEachSecond(input, clock, { timeoutMs: leftMs }, signal)
      .catch(() => signal.throwIfAborted());
    if (!pictures) break;
    found ??= [];
    for (const { seconds, ...picture } of pictures)
      found.push({ ...picture, atMs: captureMs + Math.round((seconds - captureSeconds) * 1000) });
  }
  return found;
}
