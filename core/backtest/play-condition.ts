import { isPending } from '../policies/watch/condition.ts';
import { findState, screenWatchCapture } from '../policies/watch/questions.ts';
import { scheduleAt } from '../policies/watch/schedule.ts';
import { isWatchEvent, watchProgressSchema, type WatchRun } from '../records/run.ts';
import type { Span, SpanReason } from '../records/sight.ts';
import type { WatchCondition } from '../records/watch.ts';
import type { WatchEvent } from '../records/watch-event.ts';
import type { CaptureResult, WorkflowState } from '../records/workflow.ts';
import { rules } from '../rules.ts';
import { addSeconds, earlier, later } from '../time.ts';
import { createVirtualRun, type VirtualRun } from '../workflow/virtual-run.ts';
import type { ConditionPlay, PlayedAlert } from './cursor.ts';
import {
  findSpan,
  indexFrom,
  lost,
  toCaptured,
  toQuiet,
  type Before,
  type JudgedMoment,
} from './played-capture.ts';
import { createStoredVerdicts, type StoredVerdicts } from './stored-verdicts.ts';

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
/** A confirming picture is at most so many delays later. */
const confirmDelays = 2;

/**
 * Reasons of a gap in which captures failed, or showed nothing. In others there was no tick, or its verdict is missing.
 */
const lostReasons: ReadonlySet<SpanReason | null> = new Set([
  'stream',
  'damaged',
  'stale',
  'frozen',
  'black',
]);

function isLost({ reason }: Span): boolean {
  return lostReasons.has(reason);
}

type Results = { play: ConditionPlay; alerts: PlayedAlert[]; possible: PlayedAlert[] };

/** Play under way. */
type Playing = {
  rule: WatchCondition;
  /** Live checks had the same condition, so they made its confirming pictures. */
  isOwn: boolean;
  clock: { now: Date };
  distanceSeconds: number;
  stored: StoredVerdicts;
  run: VirtualRun;
  step: WorkflowState;
  results: Results;
};

/** Creates the play of a condition, from its begin or from where an earlier one ended. */
export async function createPlay(
  first: WatchRun,
  rule: WatchCondition,
  before: ConditionPlay,
  isOwn: boolean,
): Promise<Play> {
  const clock = { now: new Date(before.at) };
  const results: Results = { play: structuredClone(before), alerts: [], possible: [] };
  const stored = createStoredVerdicts(rule.condition_id);
  const { vision, media } = stored;
  const run = createVirtualRun(
    { ...first, ...before.progress },
    {
      // Nobody sees it.
      createAlertId: () => first.run_id,
      limits: { visionTimeoutSeconds: 60 },
      clock,
      vision,
      media,
      observe: async ({ change }) => {
        for (const event of change.events.filter(isWatchEvent)) observe(event, results);
      },
    },
  );
  const distanceSeconds = first.sight.scan?.distance_seconds || 1;
  const step = await run.begin();
  const playing: Playing = { rule, isOwn, clock, distanceSeconds, stored, run, step, results };
  return {
    capture: async (moments, spans) => playCapture(playing, moments, spans),
    end: async (end, spans) => playEnd(playing, end, spans),
    take: () => {
      const { alerts, possible } = results;
      Object.assign(results, { alerts: [], possible: [] });
      return { alerts, possible };
    },
    read: () => {
      const progress = watchProgressSchema.parse(run.read());
      return { ...results.play, at: clock.now.toISOString(), progress };
    },
  };
}

function observe(event: WatchEvent, results: Results): void {
  const { play } = results;
  if (event.type === 'alert_opened') {
    const { opened_at, explanation, frame_key: key } = event.data;
    const shown = key?.slice(key.lastIndexOf('/') + 1, -'.jpg'.length) ?? '';
    play.open = { opened_at, closed_at: null, explanation, shown, moments: play.held };
  }
  if (event.type === 'alert_closed' && play.open) {
    results.alerts.push({ ...play.open, closed_at: event.data.closed_at, moments: play.held });
    Object.assign(play, { open: null, held: [] });
  }
}

async function playCapture(
  playing: Playing,
  moments: readonly JudgedMoment[],
  spans: readonly Span[],
): Promise<void> {
  const { rule, isOwn, stored, run, results } = playing;
  const { play } = results;
  const newest = moments.at(-1);
  if (!newest) return;
  await playUntil(playing, newest.at, spans);
  if (play.lacking === null && isIdle(playing) && isClear(playing, moments)) return;
  const wasLacking = play.lacking;
  play.lacking = null;
  const held = moments.filter(({ triggered }) => triggered === true).map(({ id }) => id);
  play.held = [...play.held, ...held].slice(0, maxNamed);
  stored.show(moments);
  const captured = toCaptured(moments, spans, toBefore(playing));
  if (!captured) return;
  // Live checks judged it, so it is not skipped here; its motion is not stored.
  const isMissed = screenWatchCapture(run.read(), captured, newest.at).kind === 'skipped';
  await tick(playing, newest.at, isMissed ? { ...captured, moved: true } : captured);
  const state = readState(playing);
  if (wasLacking !== null && !isNear(playing, wasLacking, newest.at) && state?.phase !== 'open')
    tellPossible(results, wasLacking);
  if (!state || state.phase === 'open') return;
  if (newest.triggered === true && !isOwn && isPending(state, rule))
    play.lacking = { at: newest.at.toISOString(), id: newest.id, explanation: newest.explanation };
  if (!state.history.includes('1')) Object.assign(play, { held: [], told: false });
}

async function playEnd(playing: Playing, end: Date, spans: readonly Span[]): Promise<void> {
  const { results } = playing;
  const { play } = results;
  await playUntil(playing, end, spans);
  if (play.lacking !== null && !isNear(playing, play.lacking, end)) tellPossible(results, play.lacking);
  play.lacking = null;
  if (play.open) results.alerts.push(play.open);
  play.open = null;
}

function isNear({ run }: Playing, { at }: { at: string }, next: Date): boolean {
  return next <= addSeconds(new Date(at), confirmDelays * run.read().config.confirm_seconds);
}

function tellPossible(
  { play, possible }: Results,
  { at, id, explanation }: NonNullable<ConditionPlay['lacking']>,
): void {
  if (play.told) return;
  play.told = true;
  possible.push({ opened_at: at, closed_at: null, explanation, shown: id, moments: play.held.slice(0, 1) });
}

async function tick(playing: Playing, tickAt: Date, captured: CaptureResult): Promise<void> {
  const { clock, run, step } = playing;
  clock.now = later(tickAt, clock.now);
  playing.step = await run.analyze(step, { ...captured, began_at: clock.now.toISOString() });
}

/**
 * Plays what the policy plans until a time: boundaries of the schedule, captures of a lost stream, and checks without
 * motion.
 */
async function playUntil(playing: Playing, until: Date, spans: readonly Span[]): Promise<void> {
  const { clock } = playing;
  let skipTo = clock.now;
  do {
    const tickAt = later(later(new Date(playing.step.wait_until), justAfter(clock.now)), skipTo);
    if (tickAt >= until) return;
    const next = planTick(playing, tickAt, until, spans);
    if (next instanceof Date) skipTo = next;
    else await tick(playing, tickAt, next);
  } while (!playing.step.done);
}

/** Returns the capture of a planned tick, or the time until which no tick changes anything. */
function planTick(playing: Playing, tickAt: Date, until: Date, spans: readonly Span[]): CaptureResult | Date {
  const run = playing.run.read();
  const { schedule, interval_seconds: interval } = run.config;
  const span = findSpan(spans, tickAt);
  const isOff = !scheduleAt(schedule, tickAt).active;
  if (playing.step.capture.closing || (isOff && !isIdle(playing))) return { kind: 'not_captured' };
  if (span && isLost(span)) return planLost(playing, { at: tickAt, until }, span, spans);
  if (isIdle(playing)) return nextSpan(tickAt, until, spans, isLost);
  if (!span) return nextSpan(tickAt, until, spans);
  if (span.class === 'not_seen' || span.class === 'judged') return justAfter(span.to);
  const quiet = toQuiet(tickAt, span, toBefore(playing));
  // A check that is not skipped has a model call, and a moment.
  return screenWatchCapture(run, quiet, tickAt).kind === 'skipped' ? quiet : addSeconds(tickAt, interval);
}

function planLost(
  playing: Playing,
  { at: tickAt, until }: { at: Date; until: Date },
  gap: Span,
  spans: readonly Span[],
): CaptureResult | Date {
  // The capture that ends a gap has scanned the last part of it.
  if (tickAt >= addSeconds(until, -rules.maxScanSeconds)) return until;
  const last = playing.clock.now < gap.from && findSpan(spans, gap.from);
  if (!last || last.class === 'judged' || last.class === 'not_seen') return lost;
  // The last check before it has seen all until its begin.
  return toQuiet(gap.from, last, toBefore(playing));
}

/** Returns the begin of the next span that `isWanted`, by default of any, at most `until`. */
function nextSpan(
  from: Date,
  until: Date,
  spans: readonly Span[],
  isWanted: (span: Span) => boolean = () => true,
): Date {
  for (let index = indexFrom(spans, from); index < spans.length; index += 1) {
    const span = spans[index];
    if (!span || span.from >= until) break;
    if (span.from >= from && isWanted(span)) return earlier(justAfter(span.from), until);
  }
  return until;
}

function justAfter(time: Date): Date {
  return new Date(time.getTime() + 1);
}

function toBefore({ clock, distanceSeconds }: Playing): Before {
  return { at: clock.now, distanceSeconds };
}

function readState({ run, rule }: Playing) {
  return findState(run.read().state.conditions, rule);
}

/** Returns true if time without motion changes nothing: no picture has shown the condition lately. */
function isIdle(playing: Playing): boolean {
  const state = readState(playing);
  return state?.phase !== 'open' && !state?.history.includes('1') && state?.reference_holds !== true;
}

/**
 * Returns true if pictures that do not hold change nothing: the last ones did not either, and nothing is open or lost.
 */
function isClear(playing: Playing, moments: readonly JudgedMoment[]): boolean {
  const { reference_holds: reference, phase, unjudged, history = '' } = readState(playing) ?? {};
  const hasTrouble = playing.run.read().sight.stream_trouble !== null;
  const isDenied = phase === 'clear' && unjudged === 0 && reference === false && history.endsWith('0');
  return isDenied && !hasTrouble && moments.every(({ triggered }) => triggered === false);
}
