import type { Failure } from '../records/failure.ts';
import type { NextTick } from '../records/run-base.ts';
import type { Sight, StreamTrouble } from '../records/sight.ts';
import { rules } from '../rules.ts';
import { skipsAfterVerdicts, type Captured, type Screening } from './screening.ts';
import { ageSeconds } from '../time.ts';
import { countSight, type SeenTime, type SightQuestion, type SightSpan } from './count-sight.ts';
import { afterModelCall, afterStreamSign, hasFailed, type ModelGrace, type StreamSign } from './trouble.ts';

/** Outcome of a tick, as far as every policy has it: a screened capture, or a fresh one that the policy used. */
export type SeenOutcome =
  | Exclude<Screening, { kind: 'fresh' }>
  | {
      kind: 'judged' | 'not_asked' | 'model_failed' | 'model_busy' | 'sampled';
      captured: Captured;
    };

/** Rules of sight that differ between policies. */
export type SightRules = {
  /** True if the run outlives the end of its stream: the end is then a trouble. */
  outlivesStream: boolean;
  /** True if a frozen or black image is a trouble of the stream. */
  reportsStills: boolean;
  modelGrace: ModelGrace;
  /** True if a stale capture ends the growing waits, because the stream was reached. */
  staleEndsWaits?: boolean;
};

/** Part of a tick that depends on the policy. */
export type PolicySight = {
  /** False while the run is not to watch: then no gap is open. Default true. */
  isActive?: boolean;
  /** Time since the last tick, if the stream works. */
  seen: SeenTime;
  /** Failure of the model, `null` if it answered; undefined if it was not called. */
  modelFailure?: Failure | null | undefined;
  /** Verdicts of a capture that the model judged as a whole, or that is kept without one; undefined for any other. */
  verdicts?: readonly { shown_at_seconds?: number | undefined }[] | undefined;
};

/** Times of a tick, and the pace of the run. `at`: begin of its capture; `now`: its decision. */
export type TickPace = Pick<SightQuestion, 'at' | 'intervalSeconds' | 'listActive'> & {
  now: Date;
  /** Factor of the interval in an overload, else 1. */
  stretch: number;
  /** Time of the newest frame, up to which a tick that sees counts; default `at`. */
  shownAt?: Date;
};

/** Returns the sight of a run after a tick, and the time that it adds: watched and gaps. */
export function afterTick<Seen extends Sight>(
  { sight: before, next }: { sight: Seen; next: NextTick | null },
  outcome: SeenOutcome,
  { isActive = true, seen, modelFailure, verdicts }: PolicySight,
  { now, stretch, shownAt, ...question }: TickPace,
  sightRules: SightRules,
): { sight: Seen; spans: SightSpan[] } {
  const sign = readStream(outcome, sightRules);
  const isStretched = Math.max(stretch, next?.stretch ?? 1) > 1;
  const time = isActive ? readTime(sign, seen) : 'seen';
  const { sight, spans } = countSight(before, {
    ...question,
    at: time === 'seen' ? (shownAt ?? question.at) : question.at,
    isStretched,
    seen: time,
  });
  // A grace period does not run while the run is not to watch.
  const isKept = (trouble: { lost: boolean } | null) => isActive || trouble?.lost;
  const troubles = {
    stream: isKept(before.stream_trouble) ? before.stream_trouble : null,
    model: isKept(before.model_trouble) ? before.model_trouble : null,
  };
  const tickTime = { lateSeconds: next === null ? 0 : ageSeconds(next.wait_until, question.at), now };
  const stream = afterStreamSign(troubles.stream, sign, tickTime, readBegin(outcome));
  return {
    sight: {
      ...sight,
      stream_trouble:
        stream && sign === 'stale' && sightRules.staleEndsWaits ? { ...stream, captures: 0 } : stream,
      model_trouble:
        modelFailure === undefined
          ? troubles.model
          : afterModelCall(troubles.model, modelFailure, sightRules.modelGrace, tickTime),
      regained: (sign === 'fine' && findRegained(troubles.stream, question.at)) || before.regained,
      skipped_in_a_row: countSkips(before, outcome, verdicts),
      ...(outcome.kind === 'judged' && { check_seconds: ageSeconds(question.at, now) }),
      ...newestFrame(outcome),
      ...newestScan(before, outcome, question.intervalSeconds),
    },
    spans,
  };
}

function readStream(outcome: SeenOutcome, { outlivesStream, reportsStills }: SightRules): StreamSign {
  switch (outcome.kind) {
    case 'no_capture':
      return 'unknown';
    case 'unavailable':
      return 'unavailable';
    case 'ended':
      return outlivesStream ? 'not_live' : 'unknown';
    case 'stale':
      return 'stale';
    case 'capture_failed':
      if (outcome.code === 'NOT_LIVESTREAM') return 'not_live';
      if (outcome.isDamaged) return 'damaged';
      return outcome.accessRefused ? 'access_refused' : 'unreachable';
    case 'skipped':
      return reportsStills && (outcome.why === 'frozen' || outcome.why === 'black') ? outcome.why : 'fine';
    default:
      return reportsStills && outcome.captured.black ? 'black' : 'fine';
  }
}

/** Returns the end of a time without a picture. */
function findRegained(trouble: StreamTrouble | null, frameAt: Date): Sight['regained'] {
  return hasFailed(trouble)
    ? { at: frameAt.toISOString(), lost_seconds: ageSeconds(trouble.since, frameAt) }
    : undefined;
}

/** Returns the begin of a frozen image. */
function readBegin(outcome: SeenOutcome): Date | undefined {
  if (outcome.kind !== 'skipped' || outcome.why !== 'frozen') return undefined;
  const { identical_since: since } = outcome.captured.seen;
  return since === null ? undefined : new Date(since);
}

function readTime(sign: StreamSign, seen: SeenTime): SeenTime {
  if (sign === 'fine') return seen;
  if (sign === 'unavailable') return 'service';
  return sign === 'not_live' || sign === 'access_refused' || sign === 'unreachable' ? 'stream' : sign;
}

function countSkips(
  { skipped_in_a_row: before }: Sight,
  outcome: SeenOutcome,
  verdicts: PolicySight['verdicts'],
): number {
  if (verdicts) return skipsAfterVerdicts(verdicts);
  const { kind } = outcome;
  // The first picture after the black one shows whether what moments showed is still there, and need not differ from
  // the one before them.
  if (kind === 'judged' && outcome.captured.black) return rules.forceCheckAfterSkips;
  return kind === 'skipped' ? before + 1 : before;
}

function newestFrame(outcome: SeenOutcome): Pick<Sight, 'last_frame'> | undefined {
  if (!('captured' in outcome)) return undefined;
  const { frame_key: key, captured_at } = outcome.captured;
  return { last_frame: { key, captured_at, evidence: false } };
}

/**
 * Returns the facts of the newest scan; those before it if nothing is new between two captures. A scan that saw nothing
 * was the first one, or was refused.
 */
function newestScan(
  { scan: before }: Sight,
  outcome: SeenOutcome,
  intervalSeconds: number,
): Pick<Sight, 'scan'> {
  if (!('captured' in outcome) || outcome.captured.repeated) return {};
  const { scan } = outcome.captured;
  if (!scan || (scan.frames === 0 && scan.covered_seconds === 0)) return { scan: undefined };
  const distance = scan.distance_seconds || (before?.distance_seconds ?? 0);
  // The newest frame advances by whole segments or key frames.
  const stepSeconds = Math.max(distance, outcome.captured.seen.position.segment_seconds);
  // A scan of less than an interval is beside a confirming check: one of the interval leaves out what the last one did.
  const isShort = scan.covered_seconds + scan.left_out_seconds + stepSeconds < intervalSeconds;
  const leftOut = Math.max(scan.left_out_seconds, isShort ? (before?.left_out_seconds ?? 0) : 0);
  return { scan: { distance_seconds: distance, left_out_seconds: leftOut } };
}
