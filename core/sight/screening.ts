import type { CaptureResult } from '../records/workflow.ts';
import { ageSeconds } from '../time.ts';
import { rules } from '../rules.ts';

export type Captured = Extract<CaptureResult, { kind: 'captured' }>;

export type SkipReason = 'no_motion' | 'frozen' | 'black' | 'repeated';

/** Result of screening the capture of a tick before the model call. */
export type Screening =
  /** At least a part is to be judged: earlier moments, and the newest frame unless it is black. */
  | { kind: 'fresh'; captured: Captured }
  | { kind: 'skipped'; why: SkipReason; captured: Captured }
  | { kind: 'stale'; captured: Captured }
  | {
      kind: 'capture_failed';
      code: string;
      message: string;
      remediation: string;
      accessRefused: boolean;
      isDamaged?: boolean | undefined;
    }
  /** The service could not take or store a capture. */
  | { kind: 'unavailable'; message: string }
  | { kind: 'ended'; message: string }
  /** No capture was due: the tick ends the job or a window. */
  | { kind: 'no_capture' };

/** State that decides about a capture, of a job or a watch. */
export type ScreeningState = {
  /** True if captures without motion are skipped. */
  prefilter: boolean;
  /** Skips in a row before this capture. */
  skippedInARow: number;
  /** True if a repeated frame is judged, because the model has not judged it yet. */
  judgesRepeated: boolean;
};

/**
 * Screens a capture. A stale playlist and a frozen or black frame are never judged as fresh, a repeated segment only if
 * the model has not judged it yet. Moments before a black frame are judged without it. The pre-filter skips captures
 * without motion, at most `forceCheckAfterSkips` in a row.
 */
export function screenOutput(output: CaptureResult, state: ScreeningState): Screening {
  if (output.kind === 'not_captured') return { kind: 'no_capture' };
  if (output.kind === 'unavailable') return { kind: 'unavailable', message: output.message };
  if (output.kind === 'ended') return { kind: 'ended', message: output.message };
  if (output.kind === 'failed') {
    const { code, message, remediation, access_refused: accessRefused, damaged } = output;
    const failure = { kind: 'capture_failed', code, message, remediation, accessRefused } as const;
    return { ...failure, ...(damaged && { isDamaged: true }) };
  }
  if (isStale(output)) return { kind: 'stale', captured: output };
  const why = noNews(output, state) ?? nothingMoved(output, state);
  return why ? { kind: 'skipped', why, captured: output } : { kind: 'fresh', captured: output };
}

/** All times are those of the captures: a late or repeated check does not make its frame older. */
function isStale({ repeated, seen }: Captured): boolean {
  const staleSeconds = Math.max(
    rules.staleAfterSeconds,
    rules.staleAfterSegments * seen.position.segment_seconds,
  );
  return repeated && ageSeconds(seen.since, new Date(seen.seen_at)) > staleSeconds;
}

function noNews(
  { black, moments = [], seen, repeated }: Captured,
  { judgesRepeated }: ScreeningState,
): SkipReason | undefined {
  if (black) return moments.length > 0 ? undefined : 'black';
  if (seen.identical_since !== null) {
    const identicalSeconds = ageSeconds(seen.identical_since, new Date(seen.seen_at));
    if (identicalSeconds >= rules.frozenAfterSeconds) return 'frozen';
  }
  return repeated && !judgesRepeated ? 'repeated' : undefined;
}

function nothingMoved(
  { moved, moments = [] }: Captured,
  { prefilter, skippedInARow }: ScreeningState,
): SkipReason | undefined {
  if (!prefilter || moved || moments.length > 0 || skippedInARow >= rules.forceCheckAfterSkips)
    return undefined;
  return 'no_motion';
}

/**
 * Returns the skips to count after verdicts: none, or as many as force the next check. What a clip shows and its last
 * frame does not has left already, and no motion would follow.
 */
export function skipsAfterVerdicts(verdicts: readonly { shown_at_seconds?: number | undefined }[]): number {
  const hasLeft = verdicts.some(({ shown_at_seconds: atSeconds }) => atSeconds !== undefined);
  return hasLeft ? rules.forceCheckAfterSkips : 0;
}
