import type { CaptureRequest } from '../../../core/records/capture.ts';
import type { FfmpegInput } from '../ffmpeg/run-ffmpeg.ts';
import { extractLastKeyFrame } from './extract-last-key-frame.ts';
import type { Segment } from './playlist.ts';
import { segmentFormat } from './segment-format.ts';
import { clipEndPtsSeconds, trimToLastSeconds } from './trim-transport-stream.ts';

/**
 * Reduces segments to the bytes that ffmpeg needs, if they can be located. Otherwise ffmpeg reads while segments
 * arrive.
 */
export async function toFfmpegInput(
  chunks: AsyncIterable<Uint8Array>,
  segments: Segment[],
  request: CaptureRequest,
): Promise<FfmpegInput> {
  const seconds = segments.reduce((sum, { durationSeconds }) => sum + durationSeconds, 0);
  const input = { kind: 'pipe', format: segmentFormat(segments[0]), chunks, seconds } as const;
  if (input.format !== 'mpegts') return input;
  // With several segments, the last one may hold no complete key frame.
  if (request.mode === 'frames')
    return segments.length === 1 ? { ...input, chunks: lastKeyFrames(chunks) } : input;
  const parts: Uint8Array[] = [];
  for await (const part of chunks) parts.push(part);
  // Later captures use the same bytes of the initialization section, and trimming uses the memory of its input.
  if (segments[0]?.initialization && parts[0]) parts[0] = new Uint8Array(parts[0]);
  // Some servers cut segments within a packet, which only joined segments hold whole.
  const clip =
    trimToLastSeconds(parts, request.clipSeconds) ??
    trimToLastSeconds([Buffer.concat(parts)], request.clipSeconds);
  if (clip === null) return { ...input, chunks: parts };
  return { ...input, chunks: clip, endsAtSeconds: clipEndPtsSeconds };
}

async function* lastKeyFrames(segments: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  for await (const segment of segments) yield extractLastKeyFrame(segment) ?? segment;
}
