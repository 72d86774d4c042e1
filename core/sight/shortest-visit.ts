import type { Sight } from '../records/sight.ts';
import { rules as limits } from '../rules.ts';
import { sureVisitSeconds } from './sure-visit.ts';

/** Rules from which the shortest visit follows. Durations in seconds. */
export type VisitRules = {
  lookBack: boolean;
  intervalSeconds: number;
  /** Wait before a confirming check. */
  confirmSeconds: number;
  /** Duration of a check, after which that wait begins; default 0. */
  checkSeconds?: number;
  /** Duration of a segment, by which the newest frame advances; default 0. */
  segmentSeconds?: number;
  /** Verdicts that must hold. */
  checksToOpen: number;
  /** Time for which it must have held; default 0. */
  openAfterSeconds?: number;
};

/**
 * Returns the duration from which a visit is sure to be seen often enough to open an alert, in seconds: by the frames
 * of the newest scan if it left nothing out, else by the checks alone.
 */
export function shortestVisitSeconds(rules: VisitRules, scan: Sight['scan']): number {
  const { intervalSeconds, confirmSeconds, checkSeconds = 0, segmentSeconds = 0, checksToOpen } = rules;
  const { openAfterSeconds = 0 } = rules;
  const stepSeconds = Math.max(segmentSeconds, scan?.distance_seconds ?? 0);
  // The newest frame advances by whole segments or key frames: two of them can be farther apart than their captures.
  const apartSeconds = intervalSeconds + stepSeconds;
  const byChecks = apartSeconds + (checksToOpen - 1) * (confirmSeconds + checkSeconds);
  // The check that confirms it in the end is as late as one that confirms a verdict.
  if (openAfterSeconds > 0)
    return openAfterSeconds + Math.ceil(10 * (byChecks + confirmSeconds + checkSeconds + stepSeconds)) / 10;
  const seconds = Math.min(byChecks, rules.lookBack ? byScan(rules, scan, apartSeconds) : Infinity);
  return Math.ceil(seconds * 10) / 10;
}

/**
 * A scan confirms a visit by two moments; conditions that need more depend on further checks, and so does an interval
 * that no scan covers.
 */
function byScan(
  { checksToOpen, intervalSeconds }: VisitRules,
  scan: Sight['scan'],
  coveredSeconds: number,
): number {
  if (!scan || scan.distance_seconds === 0 || scan.left_out_seconds > 0 || checksToOpen > 2) return Infinity;
  if (intervalSeconds > limits.maxScanSeconds) return Infinity;
  return sureVisitSeconds(scan.distance_seconds, coveredSeconds);
}
