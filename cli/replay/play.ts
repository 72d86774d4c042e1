import { toSource } from '../../core/watch/create-watch.ts';
import { captureTask } from '../../core/workflow/tasks.ts';
import { createVirtualRun, type VirtualRunDeps } from '../../core/workflow/virtual-run.ts';
import { createAlertId } from '../../adapters/machine.ts';
import type { CommittedTick } from '../../core/policies/policy.ts';
import { createWatchRun } from '../../core/policies/watch/initial-state.ts';
import { shortestVisitOfWatch } from '../../core/policies/watch/shortest-visit-of-watch.ts';
import type { ScanningCapturer } from '../../core/ports/stream-capturer.ts';
import { createMemoryMedia, type MediaStore } from '../../core/ports/media-store.ts';
import type { CompareMotion } from '../../core/records/motion.ts';
import type { EvidenceBox } from '../../core/records/vision.ts';
import type { Watch } from '../../core/records/watch.ts';
import type { WatchEvent } from '../../core/records/watch-event.ts';
import { isWatchEvent } from '../../core/records/run.ts';
import { momentTime } from '../../core/sight/moment-time.ts';

/**
 * Check of one condition. `triggered` is `null` where nothing was judged. Times in seconds from the beginning of the
 * recording.
 */
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

export type PlayDeps = Pick<VirtualRunDeps, 'vision' | 'cutFrame' | 'clock'> & {
  streams: ScanningCapturer;
  compareMotion: CompareMotion;
  /** Returns the first time at or after `seconds` that has a recording. */
  nextRecorded: (seconds: number) => number | undefined;
  newId: () => string;
  limits: { captureTimeoutSeconds: number; visionTimeoutSeconds: number };
  /** Called after each check, with the media that the model judged. */
  onCheck: (check: ReplayCheck, frame: Uint8Array | undefined) => Promise<void>;
  onProgress: (seconds: number) => void;
};

/**
 * Plays a recording through the ticks of a watch in virtual time, from `clock.now` to the end of the recording or until
 * the signal aborts. What was done until then is returned.
 */
export async function play(watch: Watch, deps: PlayDeps, signal: AbortSignal): Promise<Playback> {
  const { clock } = deps;
  const begin = clock.now.getTime();
  const media = createMemoryMedia();
  const source = toSource(watch, watch.stream_url, watch.config);
  const captureDeps = { ...deps, media, now: () => clock.now, runs: { source: async () => source } };
  const played = createRecord();
  const run = createVirtualRun(createWatchRun(watch, clock.now), {
    ...deps,
    media,
    createAlertId,
    observe: async (tick) => record(played, tick, (clock.now.getTime() - begin) / 1000, media, deps),
  });
  let step = await run.begin();
  for (let seconds = deps.nextRecorded(0); seconds !== undefined && !signal.aborted;) {
    clock.now = new Date(begin + seconds * 1000);
    const captured = await captureTask(step.capture, captureDeps);
    if (captured.kind === 'ended') break;
    const next = await run.analyze(step, captured, signal).catch((error: unknown) => {
      if (!signal.aborted) throw error;
    });
    // The interrupt ended this check, which does not count.
    if (next === undefined) break;
    step = next;
    played.playedSeconds = seconds;
    deps.onProgress(seconds);
    seconds = deps.nextRecorded((Date.parse(step.wait_until) - begin) / 1000);
  }
  const { watchedMs, gapMs, ...result } = played;
  const totalMs = watchedMs + gapMs;
  return {
    ...result,
    coverage: totalMs === 0 ? 0 : watchedMs / totalMs,
    shortestVisitSeconds: shortestVisitOfWatch(run.read()),
  };
}

type PlayRecord = ReturnType<typeof createRecord>;

function createRecord() {
  const lists: Pick<Playback, 'checks' | 'alerts' | 'motion' | 'failures'> = {
    checks: [],
    alerts: [],
    motion: [],
    failures: [],
  };
  const tokens = { input_tokens: 0, output_tokens: 0 };
  return { ...lists, tokens, playedSeconds: 0, modelCalls: 0, watchedMs: 0, gapMs: 0 };
}

async function record(
  played: PlayRecord,
  tick: CommittedTick,
  seconds: number,
  media: MediaStore,
  deps: PlayDeps,
): Promise<void> {
  const { input, seen, change } = tick;
  const { captured } = input;
  for (const { counts } of change.hours ?? []) {
    played.watchedMs += counts.watched_ms ?? 0;
    played.gapMs += counts.gap_ms ?? 0;
    played.modelCalls += counts.model_calls ?? 0;
    played.tokens.input_tokens += counts.input_tokens ?? 0;
    played.tokens.output_tokens += counts.output_tokens ?? 0;
  }
  if (seen.failure) played.failures.push(seen.failure.message);
  if (captured.kind === 'captured') played.motion.push({ seconds, share: captured.changed_share });
  const toSeconds = (time: string) => seconds - (deps.clock.now.getTime() - Date.parse(time)) / 1000;
  const events = change.events.filter(isWatchEvent);
  const checks = [...listEarlier(tick, toSeconds, deps.clock.now), ...listNewest(tick, events, seconds)];
  for (const { frameKey, ...check } of checks) {
    played.checks.push(check);
    await deps.onCheck(check, frameKey === undefined ? undefined : await media.get(frameKey));
  }
  for (const event of events) await recordAlert(played, event, toSeconds, media);
}

type ShownCheck = ReplayCheck & { frameKey: string | undefined };

/** Lists the checks of the moments before the newest frame of a capture. */
function listEarlier(
  { input: { captured }, moments }: CommittedTick,
  toSeconds: (time: string) => number,
  now: Date,
): ShownCheck[] {
  if (captured.kind !== 'captured') return [];
  const earlier = moments.filter(({ frame_key: frameKey }) => frameKey !== captured.frame_key);
  return earlier.flatMap(({ frame_key: frameKey, captured_at: time, answers }) => {
    const seconds = toSeconds(momentTime(time, captured, now).toISOString());
    return answers.map(({ condition_id, verdict, unjudgedReason = '' }) => {
      const { triggered = null, explanation = unjudgedReason } = verdict ?? {};
      return { seconds, condition_id, triggered, skipped: false, explanation, frameKey };
    });
  });
}

/**
 * Lists the checks of the newest frame of a capture, of the conditions that were asked: a confirming check has only
 * some.
 */
function listNewest(
  { input: { captured }, seen, moments }: CommittedTick,
  events: readonly WatchEvent[],
  seconds: number,
): ShownCheck[] {
  const frameKey = captured.kind === 'captured' ? captured.frame_key : undefined;
  const answers = moments.find(({ frame_key: key }) => key === frameKey)?.answers ?? [];
  const isAsked = (id: string) =>
    seen.kind !== 'judged' || answers.some(({ condition_id }) => condition_id === id);
  return events.flatMap((event) => {
    if (event.type !== 'progress') return [];
    const { conditions, explanation: why, prefilter_skipped: skipped } = event.data;
    return conditions
      .filter(({ condition_id: id }) => isAsked(id))
      .map(({ condition_id, triggered, explanation }) => ({
        seconds,
        condition_id,
        triggered,
        skipped,
        frameKey,
        explanation: explanation || why,
      }));
  });
}

/** Records an opening with its evidence, which is not stored any longer, and a closing. */
async function recordAlert(
  { alerts }: PlayRecord,
  event: WatchEvent,
  toSeconds: (time: string) => number,
  media: MediaStore,
): Promise<void> {
  const key = 'frame_key' in event.data ? event.data.frame_key : null;
  if (event.type === 'alert_opened') {
    const { condition_id, explanation, boxes = [], opened_at: openedAt } = event.data;
    const frame = key === null ? undefined : await media.get(key);
    const opened_seconds = toSeconds(openedAt);
    alerts.push({ condition_id, opened_seconds, closed_seconds: null, explanation, frame, boxes });
  }
  if (event.type === 'alert_closed') {
    const alert = alerts.findLast(({ condition_id: id }) => id === event.data.condition_id);
    if (alert) alert.closed_seconds = toSeconds(event.data.closed_at);
  }
  if (key) await media.remove([key]);
}
