import type { CaptureRequest } from '../../../../core/records/capture.ts';
import { newestFrame } from '../../ffmpeg/decode-newest.ts';
import type { FfmpegInput } from '../../ffmpeg/run-ffmpeg.ts';
import { beginsRefresh, indexAccessUnits } from '../../mpeg-ts/access-units.ts';
import { AudioOnlyError, isAudioOnly } from './audio-only.ts';
import { extractLastKeyFrame } from '../../mpeg-ts/extract-key-frames.ts';
import { beginsRefreshMp4 } from './mp4-key-frames.ts';
import type { Segment } from '../playlist/playlist.ts';
import { segmentFormat } from './segment-format.ts';
import { clipEndPtsSeconds, trimToLastSeconds } from '../../mpeg-ts/trim-transport-stream.ts';

/**
 * Input of ffmpeg. `isNewest`: the frame is the last one of a short clip, because no key frame has the whole picture.
 */
export type SegmentsInput = { input: FfmpegInput; isNewest: boolean };

/** Reduces segments to the bytes that ffmpeg needs, if they can be located. Throws `AudioOnlyError`. */
export async function toFfmpegInput(
  chunks: AsyncIterable<Uint8Array>,
  segments: Segment[],
  request: CaptureRequest,
): Promise<SegmentsInput> {
  const seconds = segments.reduce((sum, { durationSeconds }) => sum + durationSeconds, 0);
  const parts: Uint8Array[] = [];
  for await (const part of chunks) parts.push(part);
  const format = segmentFormat(segments[0]);
  const isFrame = request.mode === 'frames';
  if (parts[0] && isAudioOnly(parts[0], format)) throw new AudioOnlyError(request);
  const index = format === 'mpegts' ? indexAccessUnits(parts) : null;
  const isRefreshed =
    format === 'mpegts'
      ? beginsRefresh(parts, index)
      : beginsRefreshMp4(parts, segments[0]?.initialization ? parts[0] : undefined);
  const input = { kind: 'pipe', format, chunks: parts, seconds, isRefreshed } as const;
  const isNewest = isFrame && isRefreshed;
  if (format !== 'mpegts') return { input, isNewest };
  if (isFrame && !isNewest) {
    // With several segments, the last one may hold no complete key frame.
    if (segments.length !== 1) return { input, isNewest };
    const found = parts.length === 1 ? index : undefined;
    return {
      input: { ...input, chunks: parts.map((part) => extractLastKeyFrame(part, found) ?? part) },
      isNewest,
    };
  }
  // Later captures use the same bytes of the initialization section, and trimming uses the memory of its input.
  if (segments[0]?.initialization && parts[0]) parts[0] = new Uint8Array(parts[0]);
  const clipSeconds = isNewest ? newestFrame.clipSeconds : request.clipSeconds;
  // Some servers cut segments within a packet, which only joined segments hold whole.
  const clip =
    trimToLastSeconds(parts, clipSeconds) ?? trimToLastSeconds([Buffer.concat(parts)], clipSeconds);
  if (clip === null) return { input, isNewest };
  return { input: { ...input, chunks: clip, endsAtSeconds: clipEndPtsSeconds }, isNewest };
}
