import type { CommittedTick } from '../policies/policy.ts';
import { isPending } from '../policies/watch/condition.ts';
import { scheduleAt } from '../policies/watch/schedule.ts';
import { screenWatchCapture } from '../policies/watch/questions.ts';
import { anyCondition, alwaysLoaded } from '../ports/vision-model.ts';
import type { VisionModel } from '../ports/vision-model.ts';
import { isWatchEvent } from '../records/run.ts';
import type { Span } from '../records/seen-hour.ts';
import type { SpanReason } from '../records/sight.ts';
import type { ConditionVerdict } from '../records/vision.ts';
import type { WatchCondition } from '../records/watch.ts';
import { watchProgressSchema } from '../records/watch-run.ts';
import type { WatchRun } from '../records/watch-run.ts';
import type { CaptureOutput, CaptureResult } from '../records/workflow.ts';
import { rules } from '../rules.ts';
import { addSeconds, ageSeconds, earlier, later } from '../time.ts';
import { createVirtualRun } from '../workflow/virtual-run.ts';
import type { ConditionPlay, PlayedAlert } from './cursor.ts';

/** Moment with the verdict on the condition of a play. */
export type JudgedMoment = {
  id: string;
  at: Date;
  still: readonly [number, number];
  triggered: boolean | null;
  explanation: string;
};

/** Play of one condition: the tick of its watch, with pictures that were judged before. */
export type Play = {
  /** Plays the time until a capture, and the capture. `moments`: those with a verdict, oldest first. */
  capture(moments: readonly JudgedMoment[], spans: readonly Span[]): Promise<void>;
  /** Plays the time until the end. */
  end(at: Date, spans: readonly Span[]): Promise<void>;
  /** Returns the results since the last call: alerts that have ended, and openings that lacked a confirming picture. */
  take(): { alerts: PlayedAlert[]; possible: PlayedAlert[] };
  read(): ConditionPlay;
};

/** Maximum moments of an alert that are named. */
const maxNamed = 12;
/** Frames of a scan that a capture reports. */
const maxFrames = 30;
/** A confirming picture is at most so many delays later. */
const confirmDelays = 2;

/** Reasons of a gap in which captures failed, or showed nothing. In others there was no tick, or its verdict is missing. */
const lostReasons: ReadonlySet<SpanReason | null> = new Set([
  'stream',
  'damaged',
  'stale',
  'frozen',
  'black',
]);

/**
 * Creates the play of a condition, from its begin or from where an earlier one ended. `isOwn`: live checks had the same condition, so they made its confirming
 * pictures.
 */
export async function createPlay(
  first: WatchRun,
  rule: WatchCondition,
  before: ConditionPlay,
  isOwn: boolean,
): Promise<Play> {
  const clock = { now: new Date(before.at) };
  const play = structuredClone(before);
  let alerts: PlayedAlert[] = [];
  let possible: PlayedAlert[] = [];
  /** Stands for the pictures of the capture under way: nothing needs their bytes. */
  const pictures = new Map<string, Uint8Array>();
  const verdicts = new WeakMap<Uint8Array, ConditionVerdict>();
  const distance = first.sight.scan?.distance_seconds || 1;
  const run = createVirtualRun(
    { ...first, ...before.progress },
    {
      // Nobody sees it.
      createAlertId: () => first.run_id,
      limits: { visionTimeoutSeconds: 60 },
      clock,
      vision: answerFrom(verdicts),
      media: {
        put: async () => undefined,
        get: async (key) => pictures.get(key),
        remove: async () => undefined,
        removeOfSource: async () => 0,
      },
      observe: async (committed) => observe(committed),
    },
  );
  let step = await run.begin();

  return {
    capture: async (moments, spans) => {
      const newest = moments.at(-1);
      if (!newest) return;
      await playUntil(newest.at, spans);
      if (play.lacking === null && isIdle() && isClear(moments)) return;
      const wasLacking = play.lacking;
      play.lacking = null;
      const held = moments.filter(({ triggered }) => triggered === true).map(({ id }) => id);
      play.held = [...play.held, ...held].slice(0, maxNamed);
      const captured = toCaptured(moments, newest.at, spans);
      // Live checks judged it, so it is not skipped here; its motion is not stored.
      const isMissed = captured.kind === 'captured' && isSkipped(captured, newest.at);
      await tick(newest.at, isMissed ? { ...captured, moved: true } : captured);
      const state = readState();
      if (wasLacking !== null && !isNear(wasLacking, newest.at) && state?.phase !== 'open')
        tellPossible(wasLacking);
      if (!state || state.phase === 'open') return;
      if (newest.triggered === true && !isOwn && isPending(state, rule))
        play.lacking = { at: newest.at.toISOString(), id: newest.id, explanation: newest.explanation };
      if (!state.history.includes('1')) Object.assign(play, { held: [], told: false });
    },
    end: async (at, spans) => {
      await playUntil(at, spans);
      if (play.lacking !== null && !isNear(play.lacking, at)) tellPossible(play.lacking);
      play.lacking = null;
      if (play.open) alerts.push(play.open);
      play.open = null;
    },
    take: () => {
      const told = { alerts, possible };
      alerts = [];
      possible = [];
      return told;
    },
    read: () => {
      const progress = watchProgressSchema.parse(run.read());
      return { ...play, at: clock.now.toISOString(), progress };
    },
  };

  function readState() {
    return run.read().state.conditions.find(({ condition_id: id }) => id === rule.condition_id);
  }

  function isNear({ at }: { at: string }, next: Date): boolean {
    return next <= addSeconds(new Date(at), confirmDelays * first.config.confirm_seconds);
  }

  function tellPossible({ at, id, explanation }: NonNullable<ConditionPlay['lacking']>): void {
    if (play.told) return;
    play.told = true;
    possible.push({ opened_at: at, closed_at: null, explanation, shown: id, moments: play.held.slice(0, 1) });
  }

  async function tick(at: Date, captured: CaptureResult): Promise<void> {
    clock.now = later(at, clock.now);
    const output: CaptureOutput = { ...captured, began_at: clock.now.toISOString() };
    step = await run.analyze(step, output);
  }

  /** Plays what the policy plans until a time: boundaries of the schedule, captures of a lost stream, and checks without motion. */
  async function playUntil(until: Date, spans: readonly Span[]): Promise<void> {
    let skipTo = clock.now;
    for (;;) {
      const at = later(later(new Date(step.wait_until), new Date(clock.now.getTime() + 1)), skipTo);
      if (at >= until) return;
      const span = spans.find(({ from, to }) => from <= at && at < to);
      const isOff = !scheduleAt(first.config.schedule, at).active;
      if (step.capture.closing || (isOff && !isIdle())) await tick(at, { kind: 'not_captured' });
      // The capture that ends a gap has scanned the last part of it.
      else if (span && lostReasons.has(span.reason) && at >= addSeconds(until, -rules.maxScanSeconds))
        skipTo = until;
      else if (span && lostReasons.has(span.reason)) await tick(at, lost);
      else if (isIdle())
        skipTo = nextSpan(
          at,
          until,
          spans.filter(({ reason }) => lostReasons.has(reason)),
        );
      else if (!span) skipTo = nextSpan(at, until, spans);
      else if (span.class === 'not_seen' || span.class === 'judged') skipTo = span.to;
      else if (isSkipped(toQuiet(at, span), at)) await tick(at, toQuiet(at, span));
      else skipTo = addSeconds(at, first.config.interval_seconds);
      if (step.done) return;
    }
  }

  function observe({ change }: CommittedTick): void {
    for (const event of change.events.filter(isWatchEvent)) {
      if (event.type === 'alert_opened') {
        const { opened_at, explanation, frame_key: key } = event.data;
        const shown = key?.slice(key.lastIndexOf('/') + 1, -'.jpg'.length) ?? '';
        play.open = { opened_at, closed_at: null, explanation, shown, moments: play.held };
      }
      if (event.type === 'alert_closed' && play.open) {
        alerts.push({ ...play.open, closed_at: event.data.closed_at, moments: play.held });
        Object.assign(play, { open: null, held: [] });
      }
    }
  }

  /** Returns true if time without motion changes nothing: no picture has shown the condition lately. */
  function isIdle(): boolean {
    const state = readState();
    return state?.phase !== 'open' && !state?.history.includes('1') && state?.reference_holds !== true;
  }

  /** Returns true if pictures that do not hold change nothing: the last ones did not either, and nothing is open or lost. */
  function isClear(moments: readonly JudgedMoment[]): boolean {
    const { reference_holds: reference, phase, unjudged } = readState() ?? {};
    const isWatched = phase === 'clear' && unjudged === 0 && run.read().sight.stream_trouble === null;
    return isWatched && reference === false && moments.every(({ triggered }) => triggered === false);
  }

  /** Returns true if a check without motion is skipped: one with a model call has a moment. */
  function isSkipped(captured: CaptureResult, at: Date): boolean {
    return screenWatchCapture(run.read(), captured, at).kind === 'skipped';
  }

  /** Returns the capture of moments, with what the scan before it saw. */
  function toCaptured(moments: readonly JudgedMoment[], at: Date, spans: readonly Span[]): CaptureResult {
    pictures.clear();
    for (const { id, triggered, explanation } of moments) {
      const bytes = new Uint8Array();
      pictures.set(toKey(id), bytes);
      verdicts.set(bytes, { condition_id: rule.condition_id, triggered, explanation });
    }
    const others = moments.slice(0, -1);
    const seen = spans.findLast((span) => span.from < at && at <= span.to)?.class;
    const isStill = seen === 'quiet' && others.length === 0;
    const [stillSeconds = 0] = moments.at(-1)?.still ?? [];
    // The first capture after a gap has scanned a part of it.
    const isScanned = seen === 'quiet' || seen === 'judged' || others.length > 0 || stillSeconds > 0;
    const since = isStill ? clock.now : addSeconds(at, -stillSeconds);
    const oldest = moments[0];
    const changedAt = oldest && addSeconds(oldest.at, -oldest.still[0]);
    return {
      ...toFrame(toKey(moments.at(-1)?.id ?? ''), at, !isStill),
      ...(others.length > 0 && {
        moments: others.slice(-rules.maxEarlierMoments).map(({ id, at: shownAt, still: [past, next] }) => ({
          frame_key: toKey(id),
          captured_at: shownAt.toISOString(),
          changed_share: 1,
          still: [addSeconds(shownAt, -past).toISOString(), addSeconds(shownAt, next).toISOString()],
        })),
      }),
      ...(isScanned && { scan: toScan(since, at, changedAt) }),
    };
  }

  /** Returns a capture that shows what the one before it showed. */
  function toQuiet(at: Date, { class: seen }: Span): CaptureResult {
    return { ...toFrame(toKey(''), at, false), ...(seen === 'quiet' && { scan: toScan(clock.now, at) }) };
  }

  /** Returns a scan in which nothing moved since a time, and until another one: between them it did. */
  function toScan(since: Date, at: Date, changedAt = since) {
    const begin = later(clock.now, addSeconds(at, -rules.maxScanSeconds));
    const quiet = listFrames(later(since, begin), at);
    const unchanged = since > changedAt || since > begin ? listFrames(begin, changedAt) : [];
    return {
      frames: quiet.length,
      covered_seconds: ageSeconds(begin, at),
      left_out_seconds: 0,
      distance_seconds: distance,
      quiet,
      ...(unchanged.length > 0 && { unchanged }),
    };
  }

  /** Returns the times of the frames of a scan, without the last one. */
  function listFrames(from: Date, to: Date): string[] {
    const stepMs = Math.max(distance * 1000, ageSeconds(from, to) * (1000 / maxFrames));
    const count = Math.min(maxFrames, Math.floor((ageSeconds(from, to) * 1000) / stepMs));
    return Array.from({ length: count }, (_, index) =>
      new Date(to.getTime() - (count - index) * stepMs).toISOString(),
    );
  }
}

/** Returns the key of the picture of a moment, as a run sees it. */
function toKey(id: string): string {
  return `captures/backtest/${id}.jpg`;
}

const lost: CaptureResult = {
  kind: 'failed',
  code: 'STREAM_UNREACHABLE',
  message: 'Nothing was seen',
  remediation: '',
  access_refused: false,
};

function toFrame(frameKey: string, at: Date, moved: boolean): Extract<CaptureResult, { kind: 'captured' }> {
  const time = at.toISOString();
  return {
    kind: 'captured',
    frame_key: frameKey,
    clip_key: null,
    captured_at: time,
    seen: {
      position: { segment: null, segment_seconds: 0 },
      since: time,
      identical_since: null,
      seen_at: time,
    },
    repeated: false,
    moved,
    changed_share: moved ? 1 : 0,
    black: false,
    motion_if_judged: '',
    motion_if_skipped: '',
  };
}

/** Returns the begin of the next span that was seen, at most `until`. */
function nextSpan(at: Date, until: Date, spans: readonly Span[]): Date {
  return earlier(spans.find(({ from }) => from > at)?.from ?? until, until);
}

const refuse = async () => Promise.reject(new Error('A backtest asks about conditions only'));

/** Creates a model that gives the stored verdicts. */
function answerFrom(verdicts: WeakMap<Uint8Array, ConditionVerdict>): VisionModel {
  const tokens = { input_tokens: 0, output_tokens: 0 };
  return {
    provider: 'backtest',
    model: 'backtest',
    capabilities: { ...anyCondition, judgesMoments: true },
    lifecycle: alwaysLoaded,
    judge: async ({ frame, earlier: before = [] }) => ({
      moments: [...before.map((one) => one.frame), frame]
        .map((bytes) => verdicts.get(bytes) ?? [])
        .map((one) => [one].flat()),
      tokens,
    }),
    answer: refuse,
    words: refuse,
    matches: refuse,
    answerAbout: refuse,
    summarize: refuse,
  };
}
