import type { MediaStore } from '../../core/ports/media-store.ts';
import type { VisionModel } from '../../core/ports/vision-model.ts';
import type { ScanningCapturer } from '../../core/ports/frame-pictures.ts';
import type { CompareMotion } from '../../core/records/motion.ts';
import type { Watch } from '../../core/records/watch.ts';
import type { WatchRun } from '../../core/records/watch-run.ts';
import type { EvidenceBox } from '../../core/records/vision.ts';
import type { CaptureState } from '../../core/records/capture.ts';
import type { CaptureOutput } from '../../core/records/workflow.ts';
import { captureStateAfter } from '../../core/tick/advance-run.ts';
import { listTaken } from '../../core/workflow/tick-media.ts';
import { captureTick } from '../../core/workflow/capture-tick.ts';
import { createWatchRun } from '../../core/policies/watch/initial-state.ts';
import type { WatchOutcome } from '../../core/policies/watch/outcome.ts';
import { toCaptureKey } from '../../core/policies/watch/evidence.ts';
import { shortestVisitOfWatch } from '../../core/policies/watch/shortest-visit-of-watch.ts';
import { momentTime } from '../../core/sight/moment-time.ts';
import { createWatchPolicy } from '../../core/policies/watch/policy.ts';
import { askModel } from '../../core/tick/ask-model.ts';
import { readCheckMedia } from '../../core/tick/read-media.ts';
import { decideWatchTick, type WatchDecision } from '../../core/policies/watch/decide-tick.ts';
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
  /** Duration from which a visit is sure to be seen. */
  shortestVisitSeconds: number;
  playedSeconds: number;
  modelCalls: number;
  tokens: { input_tokens: number; output_tokens: number };
  failures: string[];
};

export type PlayDeps = CutDeps & {
  streams: ScanningCapturer;
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
    look_back: watch.config.look_back,
    regions: watch.config.regions,
  };
  const captureDeps = { ...deps, media, now: () => clock.now, runs: { source: async () => source } };
  const played: Omit<Playback, 'shortestVisitSeconds'> = {
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
        ...(watchPolicy.confirms(run) && { confirms: true as const }),
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
    captureState = captureStateAfter(captureState, captured, decision.next);
    const seen = captureState.seen ?? run.seen;
    run = { ...run, ...decision.set, seen, next: decision.next, last_tick: run.last_tick + 1 };
    played.playedSeconds = at;
    deps.onProgress(at);
    at = deps.nextRecorded((Date.parse(decision.next.wait_until) - begin) / 1000);
  }
  const total = time.watchedMs + time.gapMs;
  return {
    ...played,
    coverage: total === 0 ? 0 : time.watchedMs / total,
    shortestVisitSeconds: shortestVisitOfWatch(run),
  };
}

type Media = ReturnType<typeof createMemoryMedia>;

async function observe(
  run: WatchRun,
  captured: CaptureOutput,
  media: Media,
  deps: PlayDeps,
  signal: AbortSignal,
): Promise<WatchOutcome> {
  const work = watchPolicy.work(run, captured, deps.clock.now);
  if (work.kind === 'seen') return work.seen;
  const pictures = await readCheckMedia(work, { media, vision: deps.vision });
  if (!pictures) throw new Error('The capture has no frame');
  return work.judged(await askModel(work.questions, pictures, deps, signal));
}

const watchPolicy = createWatchPolicy({ createAlertId, modelPrice: null, judgesJointly: false });

function createAlertId(_watchId: string, conditionId: string, opening: number): string {
  return `${conditionId} ${opening}`;
}

async function record(
  played: Pick<Playback, 'checks' | 'alerts' | 'motion' | 'modelCalls' | 'tokens' | 'failures'>,
  outcome: WatchOutcome,
  { events }: WatchDecision,
  captured: CaptureOutput,
  media: Media,
  seconds: number,
  deps: PlayDeps,
): Promise<void> {
  const frame = captured.kind === 'captured' ? await media.get(captured.frame_key) : undefined;
  const toSeconds = (time: string) => seconds - (deps.clock.now.getTime() - Date.parse(time)) / 1000;
  if (outcome.kind === 'judged') {
    played.modelCalls += outcome.used.model_calls;
    played.tokens.input_tokens += outcome.used.input_tokens;
    played.tokens.output_tokens += outcome.used.output_tokens;
    if (outcome.failure) played.failures.push(outcome.failure.message);
    for (const { frame_key: key, captured_at: time, answers } of outcome.earlier) {
      const at = toSeconds(momentTime(time, outcome.captured, deps.clock.now).toISOString());
      for (const { condition_id, verdict, unjudgedReason = '' } of answers) {
        const explanation = verdict?.explanation ?? unjudgedReason;
        const triggered = verdict?.triggered ?? null;
        const check = { seconds: at, condition_id, triggered, skipped: false, explanation };
        played.checks.push(check);
        await deps.onCheck(check, await media.get(key));
      }
    }
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
      const { condition_id, explanation, boxes = [], opened_at: time, frame_key: key } = event.data;
      const opened = { opened_seconds: toSeconds(time), closed_seconds: null };
      const evidence = await readEvidence(key, condition_id, outcome, media, deps);
      played.alerts.push({ condition_id, ...opened, explanation, frame: evidence, boxes });
    } else if (event.type === 'alert_closed') {
      const alert = played.alerts.findLast(({ condition_id: id }) => id === event.data.condition_id);
      if (alert) alert.closed_seconds = toSeconds(event.data.closed_at);
    }
  }
}

/** Returns the picture of an opening: of an earlier moment, or of the newest frame or its clip. */
async function readEvidence(
  key: string | null,
  conditionId: string,
  outcome: WatchOutcome,
  media: Media,
  deps: PlayDeps,
): Promise<Uint8Array | undefined> {
  if (outcome.kind !== 'judged') return undefined;
  const { captured, answers, earlier } = outcome;
  const moment = earlier.find(({ frame_key: of }) => key !== null && of === toCaptureKey(key));
  if (moment) return media.get(moment.frame_key);
  const frame = await media.get(captured.frame_key);
  const shownAt = answers.find((answer) => answer.condition_id === conditionId)?.verdict?.shown_at_seconds;
  const clip = captured.clip_key === null ? undefined : await media.get(captured.clip_key);
  return frame && readShownFrame({ frame, clip }, shownAt, deps);
}

/** Removes the media that no later check reads: the model may receive the frame of the check before. */
async function removeUnused(
  media: Media,
  captured: CaptureOutput,
  before: string | undefined,
  after: string | undefined,
): Promise<void> {
  await media.remove([...listTaken(captured), ...(before ? [before] : [])].filter((key) => key !== after));
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
