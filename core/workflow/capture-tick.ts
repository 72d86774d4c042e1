import type { Capture, StreamFreshness, CaptureRequest } from '../records/capture.ts';
import type { CoreDeps, Limits } from '../dependencies.ts';
import { addSeconds, ageSeconds } from '../time.ts';
import {
  StreamEndedError,
  StreamError,
  StreamFetchError,
  StreamPausedError,
  TransientError,
} from '../errors.ts';
import { createTimeLimit, waitUntilAborted } from '../time-limit.ts';
import type { Source } from '../records/job.ts';
import { isCamera } from '../records/platform.ts';
import { frameFolder } from '../policies/watch/evidence.ts';
import { rules } from '../rules.ts';
import type { ScanningCapturer, FramePictures } from '../ports/stream-capturer.ts';
import { describeView } from '../sight/view.ts';
import type { RunStore } from '../ports/runs.ts';
import type { CaptureInput, CaptureOutput, CaptureResult, Moment } from '../records/workflow.ts';
import type { CompareMotion, EarlierMotion, MotionComparison } from '../records/motion.ts';
import { chooseMoments, leavesOut } from '../sight/choose-moments.ts';

export type CaptureDeps = Pick<CoreDeps, 'media' | 'compareMotion' | 'now' | 'newId'> & {
  streams: ScanningCapturer;
  runs: Pick<RunStore, 'source'>;
  limits: Pick<Limits, 'captureTimeoutSeconds' | 'lostCameraSeconds'>;
};

/**
 * First half of a tick: takes a capture, compares it with the state of the last captures and stores its media. Failures
 * of the stream or of this machine are results: a transient error costs a tick, never the job.
 */
export async function captureTick(
  input: CaptureInput,
  deps: CaptureDeps,
  signal?: AbortSignal,
): Promise<CaptureOutput> {
  const beganAt = deps.now();
  const result = input.closing ? notCaptured : await captureOrFail(input, deps, signal);
  return { ...result, began_at: beganAt.toISOString() };
}

const notCaptured: CaptureResult = { kind: 'not_captured' };

async function captureOrFail(
  input: CaptureInput,
  deps: CaptureDeps,
  signal?: AbortSignal,
): Promise<CaptureResult> {
  try {
    return await captureAndStore(input, deps, signal);
  } catch (error) {
    if (!(error instanceof TransientError)) throw error;
    return { kind: 'unavailable', message: error.message };
  }
}

async function captureAndStore(
  input: CaptureInput,
  deps: CaptureDeps,
  signal?: AbortSignal,
): Promise<CaptureResult> {
  const source = await deps.runs.source(input.source_id);
  // The source of a deleted watch or an erased job, which a burst on AWS outlives: Analyze ends it. An active one ends
  // as with a lost stream.
  if (!source) return noSource;
  // A burst outlives the cancellation of its job. Analyze then finds the job ended.
  if (source.ended) return notCaptured;
  const compared = await tryCapture(source, input, deps, signal);
  if ('kind' in compared) return compared;
  const { capture, motion, scan } = compared;
  const stored = await store(compared, input, frameFolder(source.memory_days ?? 0), deps);
  return {
    kind: 'captured',
    ...stored,
    ...(scan && { scan }),
    captured_at: capture.capturedAt.toISOString(),
    // During an outage nobody knows whether the picture stood still.
    seen: nowSeen(capture, motion.identicalToPrevious && !input.resolve_again, input.seen, deps.now()),
    repeated: isRepeated(capture, input.seen),
    moved: motion.moved,
    changed_share: motion.changedShare,
    black: motion.black,
    ...(source.regions && { view: describeView(capture.thumbnail) }),
    motion_if_judged: motion.stateWithNewReference,
    motion_if_skipped: motion.stateWithSameReference,
  };
}

/** Probes a lost camera before it captures, if the policy requires it and the host tries it often. */
async function tryCapture(
  source: Source,
  input: CaptureInput,
  deps: CaptureDeps,
  signal?: AbortSignal,
): Promise<ComparedCapture | CaptureResult> {
  const { url, regions = null } = source;
  const beganAt = deps.now();
  if (input.probes_lost && input.resolve_again && deps.limits.lostCameraSeconds && isCamera(url)) {
    const failure = await reachStream(rules.lostProbeSeconds, signal, async (timeLimit) => {
      await deps.streams.probe(url, timeLimit, source.caller);
    });
    if (failure) return failure;
  }
  const request = {
    url,
    mode: source.input_mode,
    clipSeconds: source.clip_duration_seconds,
    resolveAgain: input.resolve_again,
    regions,
    caller: source.caller,
    ...(source.clip_seconds !== undefined && { clipBeforeSeconds: source.clip_seconds }),
    ...(source.look_back && { lookBack: { since: input.seen?.position.scan ?? null } }),
  };
  // A probe takes part of the time: the task ends soon after the limit of a capture, and a cut task is a failure of the
  // service.
  const { captureTimeoutSeconds: limit } = deps.limits;
  const spent = ageSeconds(beganAt, deps.now());
  const seconds = spent === 0 ? limit : Math.max(1, Math.floor(limit - spent));
  return reachStream(seconds, signal, async (timeLimit) => {
    const capture = await deps.streams.capture(request, timeLimit);
    const state = { ...input, isRepeated: isRepeated(capture, input.seen) };
    const compared = await compareCapture(capture, state, request, deps, timeLimit);
    signal?.throwIfAborted();
    return compared;
  });
}

async function reachStream<Result>(
  seconds: number,
  signal: AbortSignal | undefined,
  work: (timeLimit: AbortSignal) => Promise<Result>,
): Promise<Result | CaptureResult> {
  const timeLimit = createTimeLimit(seconds, signal);
  try {
    return await work(timeLimit);
  } catch (error) {
    if (error instanceof StreamEndedError) return { kind: 'ended', message: error.message };
    // An advertisement can outlast the grace period of a lost stream, and it ends without intervention.
    if (error instanceof StreamPausedError) return advertisement;
    if (timeLimit.aborted && !signal?.aborted) return tooSlow(seconds);
    if (!(error instanceof StreamError)) throw error;
    return {
      kind: 'failed',
      code: error.code,
      message: error.message,
      remediation: error.remediation,
      access_refused: error instanceof StreamFetchError && error.accessRefused,
      ...(error instanceof StreamFetchError && error.isDamaged && { damaged: true }),
    };
  }
}

const noSource: CaptureResult = {
  kind: 'failed',
  code: 'STREAM_FETCH_FAILED',
  message: 'Failed to fetch stream',
  remediation: 'The address of the stream is not stored any more. Create the job or watch again.',
  access_refused: false,
};

const advertisement: CaptureResult = {
  kind: 'unavailable',
  message: 'The platform shows an advertisement instead of the stream',
};

export function tooSlow(seconds: number): CaptureResult {
  const { code, message, remediation } = new StreamFetchError(
    `The stream gave no picture within ${seconds} s. Check that it is running, and has a key frame every few seconds.`,
  );
  return { kind: 'failed', code, message, remediation, access_refused: false };
}

/**
 * Keys end in a random id: a repeated capture of the same tick must not replace the frame that was judged. A clip has
 * no use after its check.
 */
async function store(
  { capture, moments: pictures }: ComparedCapture,
  input: CaptureInput,
  folder: string,
  { media, newId }: CaptureDeps,
) {
  const keyPrefix = `${input.source_id}/${input.tick}-${newId()}`;
  const name = `${folder}/${keyPrefix}`;
  const clipKey = capture.clip ? `captures/${keyPrefix}.mp4` : null;
  const moments: Moment[] = [];
  for (const [index, { frame, at: capturedAt, changedShare, still }] of pictures.entries()) {
    const key = `${name}-${index + 1}.jpg`;
    await media.put(key, frame, 'image/jpeg');
    moments.push({
      frame_key: key,
      captured_at: capturedAt.toISOString(),
      changed_share: changedShare,
      still: [still[0].toISOString(), still[1].toISOString()],
    });
  }
  await media.put(`${name}.jpg`, capture.frame, 'image/jpeg');
  if (capture.clip && clipKey) await media.put(clipKey, capture.clip, 'video/mp4');
  return {
    frame_key: `${name}.jpg`,
    clip_key: clipKey,
    ...(moments.length > 0 && { moments }),
  };
}

function isRepeated({ position, scan }: Capture, before: StreamFreshness | null): boolean {
  if (before === null || position.segment === null) return false;
  return before.position.segment === position.segment || (scan?.isSeen ?? false);
}

function nowSeen(
  capture: Capture,
  identical: boolean,
  earlier: StreamFreshness | null,
  now: Date,
): StreamFreshness {
  const seenAt = now.toISOString();
  const before = earlier && seenOnClock(earlier, now);
  const { scan = before?.position.scan } = capture.position;
  return {
    position: { ...capture.position, ...(scan !== undefined && { scan }) },
    since: before !== null && isRepeated(capture, before) ? before.since : seenAt,
    // The run of identical frames begins with the earlier of the two, captured at `before.seen_at`.
    identical_since: identical && before !== null ? (before.identical_since ?? before.seen_at) : null,
    seen_at: seenAt,
  };
}

/** If the clock was set back since the last capture, its times move back with it. */
function seenOnClock(seen: StreamFreshness, now: Date): StreamFreshness {
  const seconds = ageSeconds(now, new Date(seen.seen_at));
  if (seconds === 0) return seen;
  const move = (time: string) => addSeconds(new Date(time), -seconds).toISOString();
  return {
    ...seen,
    since: move(seen.since),
    identical_since: seen.identical_since === null ? null : move(seen.identical_since),
    seen_at: move(seen.seen_at),
  };
}

export type MomentPicture = { at: Date; changedShare: number; still: [Date, Date]; frame: Uint8Array };

type ScanFacts = NonNullable<Extract<CaptureResult, { kind: 'captured' }>['scan']>;

/** Capture with its comparison, and with earlier moments if it looks back. */
type ComparedCapture = {
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
async function compareCapture(
  capture: Capture,
  {
    motion: state,
    confirms,
    isRepeated: isSeenBefore,
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
  const chosen = isSeenBefore ? [] : chooseMoments(frames, newest);
  const moments: MomentPicture[] = [];
  for (const index of chosen) {
    const chosenFrame = frames[index];
    if (!chosenFrame) continue;
    const { at, changedShare, scanned } = chosenFrame;
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
  capturedAt: Date,
): [Date, Date] {
  const changes = (frame: (typeof frames)[number]) => frame.isNews || frame.black;
  const begin = frames.slice(0, index + 1).findLastIndex(changes);
  const after = frames.slice(index + 1).findIndex(changes);
  const end = after < 0 ? frames.length - 1 : index + after;
  return [frames[Math.max(0, begin)]?.at ?? capturedAt, frames[end]?.at ?? capturedAt];
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
