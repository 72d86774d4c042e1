import { TransientError, type StreamError } from '../../../core/errors.ts';
import { maxClipBytes, type ClipRequest, type ClipResult } from '../../../core/records/clip.ts';
import { chooseParts, isHevc, toleranceMs } from './choose-parts.ts';
import type { JoinClip } from './join-clip.ts';
import type { KeptPart, KeptStreams } from './kept-stream.ts';

export type ClipDeps = { kept: KeptStreams; join: JoinClip; now: () => Date };

export type ClipSource = {
  /** Name of the stream in `kept`. */
  stream: string;
  /** Longest wait until it is read again, in seconds; `null` for a stream of which no more comes. */
  waitSeconds: number | null;
  /** Error of a part of the stream that could not be read now. */
  fault?: StreamError | undefined;
  /** Time by which the clock of its parts is behind that of the request, in seconds. */
  behindSeconds?: number | undefined;
  /** Returns the bytes of parts in their order. */
  toChunks: (parts: readonly KeptPart[]) => Uint8Array[];
  /** Leaves out what is before the first picture. */
  trim: (parts: KeptPart[]) => KeptPart[];
};

/** Time after the end of a clip for which its last part may come, in milliseconds. */
const graceMs = 12_000;
/** Time after the end of a clip for which a stream that cannot be read may return, in milliseconds. */
const faultMs = 120_000;
const minWaitSeconds = 1;
/** Longer than a message waits for its repetition, which takes a turn of ffmpeg then. */
const holdSeconds = 180;

/** Joins a clip from the parts that are kept, once they reach its end. */
export async function readClip(
  { kept, join, now }: ClipDeps,
  { stream, waitSeconds, fault, behindSeconds = 0, toChunks, trim }: ClipSource,
  request: ClipRequest,
  signal: AbortSignal,
): Promise<ClipResult> {
  const behindMs = behindSeconds * 1000;
  const [fromMs, toMs] = [request.from.getTime() - behindMs, request.to.getTime() - behindMs];
  const parts = kept.list(request.caller, stream);
  const isComplete = parts.some(({ endMs }) => endMs >= toMs - toleranceMs);
  const leftMs = request.to.getTime() - now().getTime();
  const isAwaited = !request.isLast && waitSeconds !== null;
  if (isAwaited && (!isComplete || fault) && leftMs + graceMs > 0)
    return { kind: 'pending', afterSeconds: Math.max(Math.min(leftMs / 1000, waitSeconds), minWaitSeconds) };
  const span = { fromMs, toMs, openedMs: request.openedAt.getTime() - behindMs };
  const chosen = trim(chooseParts(parts, span, maxClipBytes));
  const [first, last] = [chosen[0], chosen.at(-1)];
  const hasOpening = first && first.startMs <= span.openedMs + toleranceMs;
  if (fault && !hasOpening && isAwaited && leftMs + faultMs > 0)
    return { kind: 'pending', afterSeconds: waitSeconds };
  if (!first || !last) {
    if (fault) throw fault;
    return { kind: 'none', reason: 'The stream does not have the time of the opening any more' };
  }
  const film = { format: first.format, isHevc: isHevc(first), toChunks: () => toChunks(chosen) };
  const { bytes, codec } = await join(film, request, signal).catch((error: unknown) => {
    // The message is repeated, maybe after the time for which they are kept.
    if (error instanceof TransientError) kept.hold(request.caller, stream, chosen, holdSeconds);
    throw error;
  });
  const [beginMs, endMs] = [first.startMs + behindMs, last.endMs + behindMs];
  return { kind: 'clip', bytes, codec, from: new Date(beginMs), to: new Date(endMs) };
}
