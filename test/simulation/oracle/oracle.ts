import { activeBetween, localDate, nextMidnight, spansOnSchedule } from './calendar.ts';
import {
  becomeUnknown,
  begun,
  countHold,
  emptied,
  hasCleared,
  isConfirmed,
  lastInARow,
  msToOpening,
  seeAgain,
} from './plain-condition.ts';
import type { Condition } from './plain-condition.ts';
import { excludeLateness, isClear, lossReasons, wholeSecond } from './plain.ts';
import type { PlainCondition, PlainConfig, PlainTick } from './plain.ts';
import { UnsureWeek } from './unsure-week.ts';

/**
 * Slow, obvious model of a watch by the numbered rules of the design page watches. It shares no code with core: it
 * keeps plain lists of what happened, in milliseconds.
 */

type Trouble = { reason: string; since: number; captures: number };

const seconds = 1000;
const minutes = 60 * seconds;

export class Oracle {
  readonly conditions = new Map<string, Condition>();
  config: PlainConfig;
  paused = false;
  trouble: Trouble | null = null;
  lost: Trouble | null = null;
  offSchedule = false;
  exhausted = false;
  skips = 0;
  /** Calls counted by local day, and the reservation that is not settled. */
  spent = { day: '', calls: 0, warned: false };
  reserved: { day: string; calls: number } | null = null;
  /** Time up to which the coverage is counted; null while paused. */
  countedUntil: number | null;
  inGap = false;
  modelFailingSince: number | null = null;
  modelLost = false;
  readonly unsure = new UnsureWeek();
  readonly pauses: { from: number; to: number }[] = [];
  watchedMs = 0;
  gapMs = 0;
  confirming = false;
  plannedAt = 0;
  openings = 0;

  constructor(config: PlainConfig, now: number) {
    this.config = config;
    this.countedUntil = now;
    for (const { id } of config.conditions) this.conditions.set(id, begun(now));
  }

  /** Conditions that the model must be asked about now, if the capture is fresh. */
  asked(): string[] {
    const { conditions } = this.config;
    return conditions.filter((rule) => !this.confirming || this.isPending(rule)).map(({ id }) => id);
  }

  /** Asked about in a call of their own. */
  isAskedAlone(id: string): boolean {
    return this.get(id).timesLeftOut >= 3;
  }

  callsFor(ids: string[]): number {
    const alone = ids.filter((id) => this.isAskedAlone(id)).length;
    return alone + (ids.length > alone ? 1 : 0);
  }

  /** The pre-filter skips a fresh capture without motion, whose picture is of `at`. */
  skipsWithoutMotion(at: number): boolean {
    if (!this.config.prefilter || this.skips >= 6) return false;
    return this.config.conditions.every((rule) => {
      const condition = this.get(rule.id);
      const { phase, unjudged, hold } = condition;
      const isDue = msToOpening(condition, rule, at) === 0 && this.mayOpen(rule, at);
      const heldBack = phase !== 'open' && (isDue || (hold?.misses ?? 0) > 0);
      return unjudged >= 3 || (phase !== 'unknown' && unjudged === 0 && !this.isPending(rule) && !heldBack);
    });
  }

  /** True if the day's budget covers the calls; then they are reserved. */
  reserve(calls: number, now: number): boolean {
    if (this.config.callsPerDay === null) return true;
    this.newDay(now);
    this.forfeit();
    if (this.spent.calls + calls > this.config.callsPerDay) return false;
    this.reserved = { day: this.spent.day, calls };
    return true;
  }

  /** `at`: begin of the capture; `now`: decision; `shownAt`: time of the picture. */
  tick(tick: PlainTick, now: number, at = now, shownAt = at): string[] {
    const events: string[] = [];
    const onSchedule = this.isOnSchedule(now);
    // A tick whose model call began before the pause counts its calls and changes nothing else.
    const watches = onSchedule && !this.paused;
    const lateMs = this.plannedAt === 0 ? 0 : Math.max(0, at - this.plannedAt);
    // A capture that began in a span sees it, though the span is over.
    const sees = watches || (!this.paused && tick.kind !== 'none' && tick.kind !== 'repeated');
    if (!sees) this.endGracePeriods();
    const lostSince = this.lost?.since ?? Infinity;
    const streamEvents = this.observeStream(tick, lateMs, now);
    this.settle(tick, now);
    const wasExhausted = this.exhausted;
    const needed = this.callsFor(this.config.conditions.map(({ id }) => id));
    this.exhausted = this.config.callsPerDay !== null && this.spent.calls + needed > this.config.callsPerDay;
    this.observeConditions(tick, sees, now, shownAt);
    // Closings, openings, reminders, each in the order of the conditions.
    const opened = new Set<string>();
    for (const rule of this.config.conditions) {
      const condition = this.get(rule.id);
      if (condition.phase !== 'open') continue;
      const answered = tick.kind === 'judged' && typeof tick.answers[rule.id] === 'boolean';
      if (!onSchedule && !answered) events.push(this.close(rule.id, 'off_schedule', 'unknown'));
      else if (
        // Nobody saw whether an alert went on that opened when its stream was lost.
        (isClear(tick, rule.id) && condition.openedAt >= lostSince - 1 * minutes) ||
        (hasCleared(condition, rule) && condition.lastSight - condition.heldAt >= rule.closeAfter * seconds)
      ) {
        events.push(this.close(rule.id, 'cleared', 'clear'));
        opened.add(rule.id);
      } else if (!onSchedule) events.push(this.close(rule.id, 'off_schedule', 'unknown'));
    }
    const openEvents: string[] = [];
    for (const rule of this.config.conditions) {
      const condition = this.get(rule.id);
      if (condition.phase === 'open' || opened.has(rule.id) || !sees) continue;
      const holds = tick.kind === 'judged' && tick.answers[rule.id] === true;
      if (!holds || msToOpening(condition, rule, shownAt) > 0 || !this.mayOpen(rule, shownAt)) continue;
      this.openings += 1;
      openEvents.push(`open ${rule.id} #${this.openings}`);
      opened.add(rule.id);
      Object.assign(condition, {
        phase: 'open',
        ...emptied(),
        openedAt: shownAt,
        heldAt: shownAt,
        lastOpening: shownAt,
        lastReminder: null,
        acknowledged: false,
        unconfirmed: false,
      });
    }
    if (!watches) openEvents.push(...this.closeAll('off_schedule'));
    const reminders = this.config.conditions.filter((rule) => !opened.has(rule.id) && this.remind(rule, now));
    events.push(...openEvents, ...reminders.map(({ id }) => `remind ${id}`), ...streamEvents);
    if (!onSchedule && !this.offSchedule) events.push('changed schedule_ended');
    if (onSchedule && this.offSchedule) events.push('changed schedule_began');
    const begins = onSchedule && this.offSchedule && !this.paused;
    this.offSchedule = !onSchedule;
    const { callsPerDay } = this.config;
    const isNear = callsPerDay !== null && this.spent.calls >= 0.8 * callsPerDay;
    if (isNear && !this.spent.warned) events.push('changed budget_warning');
    this.spent.warned = isNear;
    if (this.exhausted && !wasExhausted) events.push('changed budget_exhausted');
    if (!this.exhausted && wasExhausted) events.push('changed budget_renewed');
    events.push(...this.observeModel(tick, lateMs, now), ...this.unsure.add(tick, this.conditions, now));
    this.countSkips(tick);
    this.cover(tick, watches, at, shownAt);
    if (!watches) this.endGracePeriods();
    this.planNext(tick, now, begins, shownAt);
    return tick.kind === 'none' ? events : ['progress', ...events];
  }

  pause(now: number): string[] {
    const events = this.closeAll('paused');
    this.coverUntil(now, !this.inGap);
    this.countedUntil = null;
    this.inGap = false;
    this.pauses.push({ from: now, to: now });
    this.paused = true;
    this.endGracePeriods();
    this.trouble = null;
    if (this.lost) events.push(`recovered ${this.lost.reason}`);
    this.lost = null;
    return [...events, 'changed paused'];
  }

  resume(now: number): string[] {
    this.paused = false;
    this.countedUntil = now;
    this.pauses.at(-1)!.to = now;
    this.lost = null;
    for (const [id, before] of this.conditions) {
      const { lastOpening, snoozedUntil } = before;
      this.conditions.set(id, { ...begun(now), lastOpening, snoozedUntil });
    }
    this.confirming = false;
    this.plannedAt = 0;
    return ['changed resumed'];
  }

  change(config: PlainConfig, now: number): string[] {
    const events: string[] = [];
    this.coverUntil(now, !this.inGap);
    for (const id of this.conditions.keys()) {
      const after = config.conditions.find((rule) => rule.id === id);
      if (!after && this.get(id).phase === 'open') events.push(`close ${id} removed`);
      if (!after) this.conditions.delete(id);
    }
    for (const after of config.conditions) {
      const before = this.config.conditions.find(({ id }) => id === after.id);
      if (!before) this.conditions.set(after.id, begun(now));
      else if (before.text !== after.text) {
        if (this.get(after.id).phase === 'open') events.push(`close ${after.id} changed`);
        this.conditions.set(after.id, begun(now));
      } else {
        this.get(after.id).timesLeftOut = 0;
        const same = ['toOpen', 'considered', 'toClose'] as const;
        if (same.some((key) => before[key] !== after[key])) Object.assign(this.get(after.id), emptied());
      }
    }
    this.config = config;
    this.confirming = false;
    this.plannedAt = 0;
    return [...events, 'changed changed'];
  }

  private get(id: string): Condition {
    return this.conditions.get(id)!;
  }

  /** Time in which nobody watches does not count against the stream or the model. */
  private endGracePeriods(): void {
    if (!this.lost) this.trouble = null;
    if (!this.modelLost) this.modelFailingSince = null;
  }

  private closeAll(reason: string): string[] {
    const open = this.config.conditions.filter(({ id }) => this.get(id).phase === 'open');
    for (const condition of this.conditions.values()) becomeUnknown(condition);
    return open.map(({ id }) => `close ${id} ${reason}`);
  }

  private close(id: string, reason: string, phase: 'clear' | 'unknown'): string {
    Object.assign(this.get(id), { phase, ...emptied() });
    return `close ${id} ${reason}`;
  }

  /** Neither its cooldown nor its snooze holds it back. */
  private mayOpen({ id, cooldown }: PlainCondition, now: number): boolean {
    const { lastOpening, snoozedUntil } = this.get(id);
    return now >= snoozedUntil && (lastOpening === null || now - lastOpening >= cooldown * seconds);
  }

  private isPending(rule: PlainCondition): boolean {
    const condition = this.get(rule.id);
    const { phase, checks, hold } = condition;
    if (phase === 'open') return lastInARow(checks) > 0 && lastInARow(checks) < rule.toClose;
    const someHold = checks.slice(-rule.considered).some(({ holds }) => holds);
    return someHold && !isConfirmed(condition, rule) && hold === null;
  }

  private remind(rule: PlainCondition, now: number): boolean {
    const condition = this.get(rule.id);
    if (condition.phase !== 'open' || rule.remind === null || this.exhausted) return false;
    if (hasCleared(condition, rule)) return false;
    if (condition.unconfirmed || condition.acknowledged || now < condition.snoozedUntil) return false;
    if (now - (condition.lastReminder ?? condition.openedAt) < rule.remind * seconds) return false;
    condition.lastReminder = now;
    return true;
  }

  /** A verdict counts at the time of its picture, and so does a picture without motion. */
  private observeConditions(tick: PlainTick, onSchedule: boolean, now: number, at: number): void {
    const maxBlindMs = Math.max(10 * minutes, 8 * this.config.interval * seconds);
    for (const rule of this.config.conditions) {
      const condition = this.get(rule.id);
      if (now - condition.lastSight >= maxBlindMs) {
        if (condition.phase === 'open') condition.unconfirmed = true;
        else becomeUnknown(condition);
      }
      if (!onSchedule) continue;
      const isSeen =
        tick.kind === 'no_motion'
          ? condition.unjudged === 0
          : tick.kind === 'judged' && typeof tick.answers[rule.id] === 'boolean';
      const { interval } = this.config;
      if (isSeen) seeAgain(condition, rule, at, { wasBlind: this.inGap, interval });
      if (tick.kind === 'no_motion' && condition.unjudged === 0)
        Object.assign(condition, { lastSight: Math.max(at, condition.lastSight), unconfirmed: false });
      if (tick.kind !== 'judged') continue;
      const answer = tick.answers[rule.id];
      if (answer === undefined) continue;
      if (typeof answer !== 'boolean') {
        condition.unjudged = answer === 'unsure' ? condition.unjudged + 1 : Math.max(1, condition.unjudged);
        if (answer === 'left_out') condition.timesLeftOut += 1;
        continue;
      }
      if (!tick.alone.includes(rule.id)) condition.timesLeftOut = 0;
      condition.checks.push({ at, holds: answer });
      if (answer) condition.heldAt = at;
      if (condition.phase === 'unknown') condition.phase = 'clear';
      Object.assign(condition, { lastSight: at, unconfirmed: false, unjudged: 0 });
      countHold(condition, rule, answer);
    }
  }

  private observeStream(tick: PlainTick, lateMs: number, now: number): string[] {
    if (tick.kind === 'none') return [];
    if (tick.kind === 'unavailable') {
      if (!this.lost) this.trouble = null;
      return [];
    }
    const reason = lossReasons[tick.kind];
    if (reason === undefined) {
      const wasLost = this.lost;
      this.trouble = null;
      this.lost = null;
      return wasLost ? [`recovered ${wasLost.reason}`] : [];
    }
    const still = (text: string) => text === 'frozen' || text === 'black';
    const before = this.trouble;
    const begins = before === null || (still(before.reason) !== still(reason) && !this.lost);
    if (begins) {
      const since = tick.kind === 'frozen' ? Math.min(now, tick.identicalSince) : now;
      this.trouble = { reason, since, captures: 1 };
    } else {
      let { since } = before;
      if (!this.lost && !still(reason)) since = excludeLateness(since, lateMs, now);
      const captures = still(before.reason) === still(reason) ? before.captures + 1 : 1;
      this.trouble = { reason, since, captures };
    }
    const { since } = this.trouble;
    const graceMs = still(reason) ? 10 * minutes : 1 * minutes;
    const wasLost = this.lost !== null;
    if (wasLost || now - since >= graceMs) {
      this.lost = { reason, since: this.lost?.since ?? since, captures: 0 };
    }
    return this.lost && !wasLost ? [`lost ${reason}`] : [];
  }

  /** A model that has failed for five minutes is reported, and its next answer. */
  private observeModel(tick: PlainTick, lateMs: number, now: number): string[] {
    if (tick.kind !== 'judged') return [];
    const wasLost = this.modelLost;
    const since = this.modelFailingSince ?? now;
    this.modelFailingSince = tick.failed ? (wasLost ? since : excludeLateness(since, lateMs, now)) : null;
    this.modelLost = tick.failed && (wasLost || now - (this.modelFailingSince ?? now) >= 5 * minutes);
    if (wasLost === this.modelLost) return [];
    return [`changed ${wasLost ? 'model_recovered' : 'model_failed'}`];
  }

  private newDay(now: number): void {
    const day = localDate(this.config.zone, now);
    if (this.spent.day === day) return;
    this.spent = { day, calls: 0, warned: false };
    this.reserved = null;
  }

  private forfeit(): void {
    this.spent.calls += this.reserved?.calls ?? 0;
    this.reserved = null;
  }

  private settle(tick: PlainTick, now: number): void {
    this.newDay(now);
    const { calls } = { calls: undefined, ...tick };
    if (calls === undefined) return this.forfeit();
    this.spent.calls += calls;
    this.reserved = null;
  }

  private countSkips(tick: PlainTick): void {
    if (['no_motion', 'repeated', 'black', 'frozen'].includes(tick.kind)) this.skips += 1;
    if (tick.kind !== 'judged') return;
    const all = this.config.conditions.every(({ id }) => {
      const answer = tick.answers[id];
      return typeof answer === 'boolean' || (answer === 'unsure' && this.get(id).unjudged >= 3);
    });
    if (all) this.skips = 0;
  }

  private cover(tick: PlainTick, onSchedule: boolean, now: number, shownAt: number): void {
    if (tick.kind !== 'none' && tick.kind !== 'repeated' && !this.paused) {
      const seen = tick.kind === 'no_motion' || (tick.kind === 'judged' && tick.hasVerdict);
      this.coverUntil(seen ? shownAt : now, seen);
      this.inGap = !seen;
    } else if (!onSchedule) this.coverUntil(now, true);
    if (onSchedule && this.exhausted) this.inGap = true;
    if (!onSchedule) this.inGap = false;
    if (this.paused) this.countedUntil = null;
  }

  /** Watched is the active time between two ticks that saw the stream, unless they are too far apart. */
  private coverUntil(now: number, seen: boolean): void {
    if (this.countedUntil === null) return;
    const ms = activeBetween(this.config, this.countedUntil, now);
    const late = ms > (2 * this.config.interval + 30) * seconds;
    if (!this.inGap && seen && !late) this.watchedMs += ms;
    else this.gapMs += ms;
    this.countedUntil = Math.max(this.countedUntil, now);
  }

  isOnSchedule(now: number): boolean {
    if (this.config.schedule === null) return true;
    return spansOnSchedule(this.config, now).some(([from, to]) => from <= now && now < to);
  }

  private planNext(tick: PlainTick, now: number, begins: boolean, shownAt: number): void {
    this.confirming = false;
    const boundary = this.nextBoundary(now);
    if (this.offSchedule || this.exhausted) {
      // An execution waits for a day at most.
      this.plannedAt = wholeSecond(Math.min(boundary, now + 86_400 * seconds));
      return;
    }
    const intervalMs = this.config.interval * seconds;
    const { createdAt, phase } = this.config;
    const first = phase ?? createdAt;
    const grid = first + (Math.floor((now - first) / intervalMs) + 1) * intervalMs;
    let at = grid;
    let confirming = false;
    if (begins) at = now;
    else if (this.trouble && !['frozen', 'black'].includes(this.trouble.reason)) {
      const waits = [1, 2, 4, 8, 16, 30, 60, 120, 300];
      const refusedWait = this.trouble.reason === 'access_refused' && (this.lost ? 1800 : 60);
      at = now + (refusedWait || waits[Math.min(this.trouble.captures, 9) - 1]!) * seconds;
    } else if (!this.trouble) {
      const newSegmentAt = 'segmentSince' in tick ? tick.segmentSince + tick.segmentSeconds * seconds : now;
      const confirmAt = Math.max(now + this.config.confirm * seconds, newSegmentAt);
      confirming = this.config.conditions.some((rule) => this.isPending(rule)) && confirmAt < grid;
      at = confirming ? confirmAt : Math.min(grid, Math.max(confirmAt, now + this.msToNextOpening(shownAt)));
    }
    this.confirming = confirming && at < boundary;
    // A point of a grid with a phase is exact.
    const wakeAt = Math.min(at, boundary);
    const isOnGrid = typeof phase === 'number' && (wakeAt - phase) % seconds === 0;
    this.plannedAt = isOnGrid ? wakeAt : wholeSecond(wakeAt);
  }

  /** A check confirms what has held long enough. */
  private msToNextOpening(at: number): number {
    const waits = this.config.conditions.map((rule) => {
      const condition = this.get(rule.id);
      const ms = condition.unjudged < 3 ? msToOpening(condition, rule, at) : 0;
      return condition.phase !== 'open' && ms > 0 && this.mayOpen(rule, at + ms) ? ms : Infinity;
    });
    return Math.min(...waits);
  }

  private nextBoundary(now: number): number {
    const times: number[] = [];
    if (this.config.schedule !== null) {
      const spans = spansOnSchedule(this.config, now);
      times.push(...spans.flat().filter((at) => at > now));
    }
    if (this.exhausted && !this.offSchedule) times.push(nextMidnight(this.config.zone, now));
    return Math.min(Infinity, ...times);
  }
}
