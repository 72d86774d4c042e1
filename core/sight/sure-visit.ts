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
