import type { MediaStore } from '../../core/ports/media-store.ts';
import type { VisionModel } from '../../core/ports/vision-model.ts';
import type { StreamCapturer } from '../../core/ports/stream-capturer.ts';
import type { CompareMotion } from '../../core/records/motion.ts';
import type { Watch } from '../../core/records/watch.ts';
import type { WatchRun } from '../../core/records/watch-run.ts';
import type { EvidenceBox } from '../../core/records/vision.ts';
import type { CaptureState } from '../../core/records/capture.ts';
import type { CaptureOutput } from '../../core/records/workflow.ts';
import { captureStateAfter } from '../../core/tick/advance-run.ts';
import { captureTick } from '../../core/workflow/capture-tick.ts';
import { createWatchRun } from '../../core/policies/watch/initial-state.ts';
import type { WatchOutcome } from '../../core/policies/watch/outcome.ts';
import { createWatchPolicy } from '../../core/policies/watch/policy.ts';
import { askModel } from '../../core/tick/ask-model.ts';
import { readCheckMedia } from '../../core/tick/read-media.ts';
import { decideWatchTick, type WatchDecision } from '../../core/policies/watch/tick.ts';
import { readShownFrame, type CutDeps } from '../../core/stream/shown-frame.ts';

/** Check of one condition. `triggered` is `null` where nothing was judged. Times in seconds from the beginning of the recording. */
export type ReplayCheck = {
  seconds: number;
  condition_id: string;
  triggered: boolean | null;
  skipped: boolean;
  explanation: string;
};

/** Alert of a replay. `closed_seconds` is `null` if it was open at the end. `frame`: the evidence. */
export type ReplayAlert = {
  condition_id: string;
  opened_seconds: number;
  closed_seconds: number | null;
  explanation: string;
  frame: Uint8Array | undefined;
  boxes: EvidenceBox[];
};

export type Playback = {
  checks: ReplayCheck[];
  alerts: ReplayAlert[];
  /** Share of changed pixels at each capture, for the time line. */
  motion: { seconds: number; share: number }[];
  /** Share of the played time that was watched, 0 to 1. */
  coverage: number;
  playedSeconds: number;
  modelCalls: number;
  tokens: { input_tokens: number; output_tokens: number };
  failures: string[];
};

export type PlayDeps = CutDeps & {
  streams: StreamCapturer;
  vision: VisionModel;
  compareMotion: CompareMotion;
  /** Virtual clock, which the playback moves forward. */
  clock: { now: Date };
  /** Returns the first time at or after `seconds` that has a recording. */
  nextRecorded: (seconds: number) => number | undefined;
  newId: () => string;
  limits: { captureTimeoutSeconds: number; visionTimeoutSeconds: number };
  /** Called after each check, with the media that the model judged. */
  onCheck: (check: ReplayCheck, frame: Uint8Array | undefined) => Promise<void>;
  onProgress: (seconds: number) => void;
};

/**
 * Plays a recording through the capture, pre-filter, model and alert rules of a watch in virtual time, from `clock.now` to the end of
 * the recording or until the signal aborts. What was done until then is returned.
 */
export async function play(watch: Watch, deps: PlayDeps, signal: AbortSignal): Promise<Playback> {
  const { clock } = deps;
  const begin = clock.now.getTime();
  const media = createMemoryMedia();
  const source = {
    source_id: watch.source_id,
    caller: watch.caller,
    url: watch.stream_url,
    input_mode: watch.config.input_mode,
    clip_duration_seconds: watch.config.clip_duration_seconds,
    regions: watch.config.regions,
  };
  const captureDeps = { ...deps, media, now: () => clock.now, runs: { source: async () => source } };
  const played: Playback = {
    checks: [],
    alerts: [],
    motion: [],
    coverage: 0,
    playedSeconds: 0,
    modelCalls: 0,
    tokens: { input_tokens: 0, output_tokens: 0 },
    failures: [],
  };
  const time = { watchedMs: 0, gapMs: 0 };
  let run = createWatchRun(watch, clock.now);
  let captureState: CaptureState = { seen: null, motion: null };
  for (let at = deps.nextRecorded(0); at !== undefined && !signal.aborted;) {
    clock.now = new Date(begin + at * 1000);
    const captured = await captureTick(
      {
        ...captureState,
        source_id: watch.source_id,
        tick: run.last_tick + 1,
        closing: run.next?.closing ?? false,
        resolve_again: false,
      },
      captureDeps,
    );
    if (captured.kind === 'ended') break;
    const outcome = await observe(run, captured, media, deps, signal).catch((error: unknown) => {
      if (!signal.aborted) throw error;
    });
    // The interrupt ended this check, which does not count.
    if (outcome === undefined || signal.aborted) break;
    const decision = decideWatchTick(
      run,
      { outcome, need: { calls: 0, micro_usd: 0 } },
      clock.now,
      createAlertId,
    );
    await record(played, outcome, decision, captured, media, at, deps);
    for (const { counts } of decision.hours) {
      time.watchedMs += counts.watched_ms ?? 0;
      time.gapMs += counts.gap_ms ?? 0;
    }
    await removeUnused(media, captured, run.sight.last_frame?.key, decision.set.sight.last_frame?.key);
    captureState = captureStateAfter(captureState, captured, decision.next.judged);
    run = { ...run, ...decision.set, next: decision.next, last_tick: run.last_tick + 1 };
    played.playedSeconds = at;
    deps.onProgress(at);
    at = deps.nextRecorded((Date.parse(decision.next.wait_until) - begin) / 1000);
  }
  const total = time.watchedMs + time.gapMs;
  return { ...played, coverage: total === 0 ? 0 : time.watchedMs / total };
}

type Media = ReturnType<typeof createMemoryMedia>;

async function observe(
  run: WatchRun,
  captured: CaptureOutput,
  media: Media,
  deps: PlayDeps,
  signal: AbortSignal,
): Promise<WatchOutcome> {
  const policy = createWatchPolicy({ createAlertId, modelPrice: null, judgesJointly: false });
  const work = policy.work(run, captured, deps.clock.now);
  if (work.kind === 'seen') return work.seen;
  const pictures = await readCheckMedia(work, { media, vision: deps.vision });
  if (!pictures) throw new Error('The capture has no frame');
  return work.judged(await askModel(work.questions, pictures, deps, signal));
}

function createAlertId(_watchId: string, conditionId: string, opening: number): string {
  return `${conditionId} ${opening}`;
}

async function record(
  played: Playback,
  outcome: WatchOutcome,
  { events }: WatchDecision,
  captured: CaptureOutput,
  media: Media,
  seconds: number,
  deps: PlayDeps,
): Promise<void> {
  const frame = captured.kind === 'captured' ? await media.get(captured.frame_key) : undefined;
  if (outcome.kind === 'judged') {
    played.modelCalls += outcome.used.calls;
    played.tokens.input_tokens += outcome.used.input_tokens;
    played.tokens.output_tokens += outcome.used.output_tokens;
    if (outcome.failure) played.failures.push(outcome.failure.message);
  }
  if (captured.kind === 'captured') played.motion.push({ seconds, share: captured.changed_share });
  for (const event of events) {
    if (event.type === 'progress') {
      const { conditions, explanation, prefilter_skipped: skipped } = event.data;
      for (const { condition_id, triggered, explanation: why } of conditions) {
        // A confirming check has only some conditions.
        if (outcome.kind === 'judged' && !outcome.answers.some(({ condition_id: id }) => id === condition_id))
          continue;
        const check = { seconds, condition_id, triggered, skipped, explanation: why || explanation };
        played.checks.push(check);
        await deps.onCheck(check, frame);
      }
    } else if (event.type === 'alert_opened') {
      const { condition_id, explanation, boxes = [] } = event.data;
      const opened = { opened_seconds: seconds, closed_seconds: null };
      const answers = outcome.kind === 'judged' ? outcome.answers : [];
      const shownAt = answers.find((answer) => answer.condition_id === condition_id)?.verdict
        ?.shown_at_seconds;
      const clipKey = captured.kind === 'captured' ? captured.clip_key : null;
      const clip = clipKey === null ? undefined : await media.get(clipKey);
      const evidence = frame && (await readShownFrame({ frame, clip }, shownAt, deps));
      played.alerts.push({ condition_id, ...opened, explanation, frame: evidence, boxes });
    } else if (event.type === 'alert_closed') {
      const alert = played.alerts.findLast(({ condition_id: id }) => id === event.data.condition_id);
      if (alert) alert.closed_seconds = seconds;
    }
  }
}

/** Removes the media that no later check reads: the model may receive the frame of the check before. */
async function removeUnused(
  media: Media,
  captured: CaptureOutput,
  before: string | undefined,
  after: string | undefined,
): Promise<void> {
  const keys = captured.kind === 'captured' ? [captured.frame_key, captured.clip_key, before] : [before];
  await media.remove(keys.filter((key): key is string => typeof key === 'string' && key !== after));
}

/** Creates a media store in memory: a replay needs the media of one check, and those of its alerts. */
function createMemoryMedia(): MediaStore {
  const media = new Map<string, Uint8Array>();
  return {
    put: async (key, bytes) => void media.set(key, bytes),
    get: async (key) => media.get(key),
    removeOfSource: async () => 0,
    remove: async (keys) => keys.forEach((key) => media.delete(key)),
  };
}
