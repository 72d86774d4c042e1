import type { Sight } from '../records/sight.ts';
import { rules as limits } from '../rules.ts';

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

/** Minimum time between two frames that are judged, in seconds. */
export const momentsApartSeconds = 1;
/**
 * Time between two frames of which one confirms the other, in seconds: 2, less the inaccuracy of the times of frames.
 */
export const confirmApartSeconds = 1.9;

/**
 * Returns the duration from which a visit is sure to have two moments that confirm each other, in seconds, whatever
 * else moves in the scan: two such visits do not fit into it, so that three moments about the middle of the motion are
 * enough. `distanceSeconds`: longest time between two frames.
 */
export function sureVisitSeconds(distanceSeconds: number, coveredSeconds: number): number {
  const apart = Math.ceil(confirmApartSeconds / distanceSeconds) * distanceSeconds;
  return Math.max(
    (coveredSeconds + distanceSeconds) / 2,
    2 * apart,
    apart + distanceSeconds,
    confirmApartSeconds + momentsApartSeconds,
  );
}

/** Frame of a scan, in time order. `shown`: what it shows is neither in the newest frame nor was it judged. */
export type ScannedFrame = { ms: number; share: number; shown: boolean };

/** Frames of one visit that may be: index of the first and the last. */
type Visit = [begin: number, end: number];

/**
 * Returns the chosen frames, as indices, if they confirm each visit of the sure duration that can be a part of the
 * motion, else others that do.
 */
export function coverLongVisit(
  frames: readonly ScannedFrame[],
  newestMs: number,
  chosen: readonly number[],
): number[] {
  const firstMs = frames[0]?.ms ?? newestMs;
  const times = [...frames.map(({ ms }) => ms), newestMs];
  const distanceMs = times.reduce(
    (longest, ms, index) => Math.max(longest, ms - (times[index - 1] ?? ms)),
    1,
  );
  const time = (index: number) => times[index] ?? firstMs - distanceMs;
  const sureMs = Math.ceil(
    1000 * sureVisitSeconds(distanceMs / 1000, (newestMs - firstMs + distanceMs) / 1000),
  );
  const extentMs = ([begin, end]: Visit) => time(end + 1) - time(begin - 1);
  const long = listVisits(frames).filter((visit) => extentMs(visit) > sureMs);
  const isSure = (judged: readonly number[]) =>
    long.every(([begin, end]) => {
      const within = judged.filter((index) => begin <= index && index <= end);
      return time(within.at(-1) ?? 0) - time(within[0] ?? 0) >= confirmApartSeconds * 1000;
    });
  const longest = long.toSorted((one, other) => extentMs(other) - extentMs(one))[0];
  if (!longest || isSure(chosen)) return [...chosen];
  const options = listMiddles(longest, frames, {
    sureMs,
    newestMs,
    from: time(longest[0] - 1),
    to: time(longest[1] + 1),
  });
  return options.find(isSure) ?? options[0] ?? [...chosen];
}

/** Lists the times in which something is shown, and all parts of them. */
function listVisits(frames: readonly ScannedFrame[]): Visit[] {
  const visits: Visit[] = [];
  for (const begin of frames.keys())
    for (let end = begin; frames[end]?.shown; end += 1) visits.push([begin, end]);
  return visits;
}

/**
 * Lists choices of a frame in the middle of a visit, which each long part has, and one on either side that confirms it:
 * the greatest ones first.
 */
function listMiddles(
  [begin, end]: Visit,
  frames: readonly ScannedFrame[],
  { sureMs, newestMs, from, to }: { sureMs: number; newestMs: number; from: number; to: number },
): number[][] {
  const all = frames
    .map((frame, index) => ({ ...frame, index }))
    .filter(({ ms, index }) => begin <= index && index <= end && newestMs - ms >= momentsApartSeconds * 1000);
  const middles = all.filter(({ ms }) => to - sureMs <= ms && ms <= from + sureMs).toSorted(byShare);
  return middles.flatMap((middle) => {
    const apartMs = ({ ms }: { ms: number }) => Math.abs(ms - middle.ms);
    const beside = all.filter((frame) => apartMs(frame) >= confirmApartSeconds * 1000);
    const near = beside.filter((frame) => apartMs(frame) <= sureMs / 2);
    const greatest = near.toSorted(byShare);
    const nearest = beside.toSorted((one, other) => apartMs(one) - apartMs(other));
    return [greatest, nearest].map((sorted) =>
      [
        sorted.find(({ ms }) => ms < middle.ms)?.index,
        middle.index,
        sorted.find(({ ms }) => ms > middle.ms)?.index,
      ].filter((index) => index !== undefined),
    );
  });
}

function byShare(one: Pick<ScannedFrame, 'share'>, other: Pick<ScannedFrame, 'share'>): number {
  return other.share - one.share;
}
