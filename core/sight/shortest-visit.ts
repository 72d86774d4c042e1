import type { Sight } from '../records/sight.ts';
import { confirmApartSeconds, momentsApartSeconds } from './choose-moments.ts';

/** Rules from which the shortest visit follows. Durations in seconds. */
export type VisitRules = {
  lookBack: boolean;
  intervalSeconds: number;
  /** Wait before a confirming check. */
  confirmSeconds: number;
  /** Verdicts that must hold. */
  checksToOpen: number;
};

/**
 * Returns the duration from which a visit is sure to be seen often enough to open an alert, in seconds: by the frames of the newest scan if it left nothing out,
 * else by the checks alone.
 */
export function shortestVisitSeconds(rules: VisitRules, scan: Sight['scan']): number {
  const byChecks = rules.intervalSeconds + (rules.checksToOpen - 1) * rules.confirmSeconds;
  const seconds = Math.min(byChecks, rules.lookBack ? byScan(rules.checksToOpen, scan) : Infinity);
  return Math.ceil(seconds * 10) / 10;
}

/** A scan confirms a visit by two moments; conditions that need more depend on further checks. */
function byScan(checksToOpen: number, scan: Sight['scan']): number {
  if (!scan || scan.distance_seconds === 0 || scan.left_out_seconds > 0 || checksToOpen > 2) return Infinity;
  const distance = scan.distance_seconds;
  if (checksToOpen === 1) return Math.max(distance, momentsApartSeconds);
  const frames = Math.ceil(confirmApartSeconds / distance) + 1;
  return Math.max(frames * distance, confirmApartSeconds + momentsApartSeconds);
}
