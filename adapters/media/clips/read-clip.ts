import { TransientError, type StreamError } from '../../../core/errors.ts';
import { maxClipBytes, type ClipRequest, type ClipResult } from '../../../core/records/clip.ts';
import type { JoinClip } from './join-clip.ts';
import type { KeptPart, KeptStreams } from './kept-stream.ts';
import { createHash } from 'node:crypto';
import { codedSize } from '../h264/coded-size.ts';
import { indexAccessUnits } from '../mpeg-ts/access-units.ts';
import { readUnitBegin } from '../mpeg-ts/unit-begin.ts';

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

/** Span of a clip in milliseconds; the opening is in it. */
type ClipSpan = { fromMs: number; toMs: number; openedMs: number };

/** Shortest clip that does not show the opening, in milliseconds. */
const minLateMs = 2_000;

/** Rounding of durations in playlists. */
const toleranceMs = 250;

/**
 * Returns the parts to join, oldest first: those that the span touches, from the one at the opening on to both sides,
 * as far as they follow each other in one encoding and are together at most `maxBytes`. If a restart or the stream has
 * lost that one, from the first after the opening: none if they show too little.
 */
function chooseParts(parts: readonly KeptPart[], span: ClipSpan, maxBytes: number): KeptPart[] {
  const touched = parts.filter(
    ({ startMs, endMs }) => endMs > span.fromMs + toleranceMs && startMs < span.toMs - toleranceMs,
  );
  const begun = touched.findLastIndex(({ startMs }) => startMs <= span.openedMs + toleranceMs);
  const isLost = (touched[begun]?.endMs ?? -Infinity) < span.openedMs - toleranceMs;
  const opening = isLost ? begun + 1 : begun;
  const shown = touched[opening];
  let leftBytes = maxBytes - (shown?.bytes.length ?? Infinity);
  if (!shown || leftBytes < 0) return [];
  let [begin, end] = [opening, opening];
  for (;;) {
    const [before, after] = [touched[begin - 1], touched[end + 1]];
    const hasEarlier = before && before.bytes.length <= leftBytes && follows(before, touched[begin]);
    const hasLater = after && after.bytes.length <= leftBytes && follows(touched[end], after);
    if (!hasEarlier && !hasLater) {
      const lateMs = Math.min(touched[end]?.endMs ?? 0, span.toMs) - shown.startMs;
      return isLost && lateMs < minLateMs - toleranceMs ? [] : touched.slice(begin, end + 1);
    }
    // In turns, so that a bound takes from both sides.
    const isEarlier = hasEarlier && (!hasLater || opening - begin <= end - opening);
    leftBytes -= (isEarlier ? before : after)?.bytes.length ?? 0;
    if (isEarlier) begin -= 1;
    else end += 1;
  }
}

function follows(part: KeptPart | undefined, next: KeptPart | undefined): boolean {
  if (!part || !next || next.place !== part.place + 1n || next.isBreak) return false;
  const [one, other] = [readEncoding(part), readEncoding(next)];
  return part.format === next.format && (one === null || other === null || one === other);
}

function isHevc(part: KeptPart): boolean {
  if (part.format === 'mov')
    return /h[ve][vc]1/.test(Buffer.from(part.initialization ?? []).toString('latin1'));
  return readEncoding(part)?.startsWith('H265') ?? false;
}

/** Returns what parts of one film have in common; `null` if it is unknown. */
function readEncoding({ format, initialization, bytes, units }: KeptPart): string | null {
  if (units) return `${units.codec} ${units.size}`;
  if (format === 'mov')
    return createHash('sha1')
      .update(initialization ?? new Uint8Array())
      .digest('hex');
  const index = indexAccessUnits([bytes]);
  const unit = index?.accessUnits.find(({ isKeyFrame }) => isKeyFrame);
  const rules = index?.video.rules;
  if (!index || !unit || !rules) return null;
  const set = readUnitBegin(bytes, unit.at, index.video.pid, rules).sequenceSet();
  return `${rules.codec} ${set ? codedSize(set, rules) : ''}`;
}
