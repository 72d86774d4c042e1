import { createHash } from 'node:crypto';
import { codedSize } from '../h264/coded-size.ts';
import { indexAccessUnits } from '../mpeg-ts/access-units.ts';
import { readUnitBegin } from '../mpeg-ts/unit-begin.ts';
import type { KeptPart } from './kept-stream.ts';

/** Span of a clip in milliseconds; the opening is in it. */
export type ClipSpan = { fromMs: number; toMs: number; openedMs: number };

/** Shortest clip that does not show the opening, in milliseconds. */
const minLateMs = 2_000;

/** Rounding of durations in playlists. */
export const toleranceMs = 250;

/**
 * Returns the parts to join, oldest first: those that the span touches, from the one at the opening on to both sides,
 * as far as they follow each other in one encoding and are together at most `maxBytes`. If a restart or the stream has
 * lost that one, from the first after the opening: none if they show too little.
 */
export function chooseParts(parts: readonly KeptPart[], span: ClipSpan, maxBytes: number): KeptPart[] {
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

export function isHevc(part: KeptPart): boolean {
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
