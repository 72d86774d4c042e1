import type { FramePictures } from '../ports/frame-pictures.ts';
import type { Capture, CaptureRequest } from '../records/capture.ts';
import type { CompareMotion, EarlierMotion, MotionComparison } from '../records/motion.ts';
import type { CaptureInput, CaptureResult } from '../records/workflow.ts';
import { waitUntilAborted } from '../time-limit.ts';
import { chooseMoments, leavesOut } from '../sight/choose-moments.ts';

export type MomentPicture = { at: Date; changedShare: number; still: [Date, Date]; frame: Uint8Array };

type ScanFacts = NonNullable<Extract<CaptureResult, { kind: 'captured' }>['scan']>;

/** Capture with its comparison, and with earlier moments if it looks back. */
export type ComparedCapture = {
  capture: Capture;
  motion: MotionComparison;
  moments: MomentPicture[];
  scan: ScanFacts | undefined;
};

/** Frames like the newest, and like the judged picture, whose times are kept: more than any condition considers. */
const maxAlike = 30;

/**
 * Compares a capture and the frames that its scan found, and fetches the pictures of the moments to judge until the
 * signal aborts. A moment whose picture cannot be had is left out.
 */
export async function compareCapture(
  capture: Capture,
  {
    motion: state,
    confirms,
    isRepeated,
  }: Pick<CaptureInput, 'motion' | 'confirms'> & { isRepeated: boolean },
  request: Pick<CaptureRequest, 'caller' | 'regions'>,
  { streams, compareMotion }: { streams: FramePictures; compareMotion: CompareMotion },
  signal: AbortSignal,
): Promise<ComparedCapture> {
  const { scan } = capture;
  const scannedFrames = scan?.frames ?? [];
  const motion = compareMotion(
    capture.thumbnail,
    state,
    request.regions ?? [],
    scannedFrames.map(({ thumbnail }) => thumbnail),
  );
  if (!scan) return { capture, motion, moments: [], scan: undefined };
  const frames = scannedFrames.flatMap((scanned, index) => {
    const compared = motion.earlier[index];
    return compared ? [{ at: scanned.at, scanned, ...compared }] : [];
  });
  const listTimes = (alike: typeof frames) => alike.map(({ at }) => at.toISOString()).slice(-maxAlike);
  const unchanged = frames.filter(({ moved, likeNewest, black }) => !moved && !likeNewest && !black);
  const facts = {
    frames: frames.length,
    covered_seconds: scan.coveredSeconds,
    left_out_seconds: scan.leftOutSeconds,
    distance_seconds: longestBlindSeconds(scan, capture) || (capture.keyFrameSeconds ?? 0),
    quiet: listTimes(frames.filter(({ likeNewest }) => likeNewest)),
    ...(unchanged.length > 0 && { unchanged: listTimes(unchanged) }),
  };
  const { moved, black } = motion;
  const newest = { at: capture.capturedAt, moved, black, confirms: confirms ?? false };
  // The scan of a repeated picture begins where the one before did: the next capture repeats it.
  const chosen = isRepeated ? [] : chooseMoments(frames, newest);
  const moments: MomentPicture[] = [];
  for (const index of chosen) {
    const found = frames[index];
    if (!found) continue;
    const { at, changedShare, scanned } = found;
    const reading = streams.picture(scanned, request, signal);
    const frame = await waitUntilAborted(reading, signal).catch(() => null);
    if (frame) moments.push({ at, changedShare, still: findStill(frames, index, at), frame });
  }
  const shown = new Set(moments.map(({ at }) => at));
  const judged = chosen.filter((index) => frames[index] && shown.has(frames[index].at));
  const leavesMotion = leavesOut(frames, newest, judged);
  return { capture, motion, moments, scan: { ...facts, ...(leavesMotion && { leaves_motion: true }) } };
}

/** Returns the times of the first and last frame about a frame that nothing changed between. */
function findStill(
  frames: readonly (Pick<EarlierMotion, 'isNews' | 'black'> & { at: Date })[],
  index: number,
  at: Date,
): [Date, Date] {
  const changes = (frame: (typeof frames)[number]) => frame.isNews || frame.black;
  const begin = frames.slice(0, index + 1).findLastIndex(changes);
  const after = frames.slice(index + 1).findIndex(changes);
  const end = after < 0 ? frames.length - 1 : index + after;
  return [frames[Math.max(0, begin)]?.at ?? at, frames[end]?.at ?? at];
}

/**
 * Returns the longest time between two frames, in seconds: of the scan, or from the capture before to its first frame.
 * 0 if unknown.
 */
function longestBlindSeconds(
  { frames: [first], coveredSeconds, distanceSeconds }: NonNullable<Capture['scan']>,
  { capturedAt }: Capture,
): number {
  if (first === undefined) return distanceSeconds;
  const spanSeconds = Math.max(0, capturedAt.getTime() - first.at.getTime()) / 1000;
  return Math.max(distanceSeconds, coveredSeconds - spanSeconds);
}
