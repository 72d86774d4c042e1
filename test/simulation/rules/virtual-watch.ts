import { isDeepStrictEqual } from 'node:util';
import type { WatchRun } from '../../../core/records/watch-run.ts';
import type { NewWatchEvent } from '../../../core/records/watch-event.ts';
import { watchStateSchema } from '../../../core/records/watch-state.ts';
import type { CaptureResult } from '../../../core/records/workflow.ts';
import { reserve, budgetOnDay } from '../../../core/policies/watch/budget.ts';
import {
  acknowledgeAlert,
  changeWatch,
  pauseWatch,
  resumeWatch,
  snoozeWatch,
} from '../../../core/policies/watch/change.ts';
import { createWatchRun } from '../../../core/policies/watch/initial-state.ts';
import type { WatchOutcome } from '../../../core/policies/watch/outcome.ts';
import {
  planAllQuestions,
  planQuestions,
  screenWatchCapture,
} from '../../../core/policies/watch/questions.ts';
import type { ConditionAnswer, Questions } from '../../../core/tick/ask-model.ts';
import { localDay } from '../../../core/policies/watch/schedule.ts';
import { decideWatchTick } from '../../../core/policies/watch/tick.ts';
import { activeBetween, localDate } from '../oracle/calendar.ts';
import { Oracle } from '../oracle/oracle.ts';
import type { PlainConfig, PlainTick } from '../oracle/plain.ts';
import { Random } from '../random.ts';
import { Scene } from './scene.ts';
import { randomConfig, randomChange } from '../random-config.ts';
import { toWatch } from '../watch-request.ts';

export type Summary = { ticks: number; openings: number; modelCalls: number; changes: number };

/** One watch in virtual time, held against the oracle at each tick. Throws at the first difference. */
export class VirtualWatch {
  private readonly random: Random;
  private readonly scene: Scene;
  private readonly oracle: Oracle;
  private record: WatchRun;
  private plain: PlainConfig;
  private now: number;
  private capturedAt = 0;
  private readonly openAlerts = new Set<string>();
  private readonly usedAlerts = new Set<string>();
  private readonly callsByDay = new Map<string, number>();
  private readonly totals = { watched_ms: 0, gap_ms: 0 };
  private readonly summary: Summary = { ticks: 0, openings: 0, modelCalls: 0, changes: 0 };

  constructor(seed: number, startAt: number, intervalSeconds: number) {
    this.random = new Random(seed);
    this.now = startAt;
    this.plain = randomConfig(this.random, startAt, intervalSeconds);
    this.scene = new Scene(this.random, startAt);
    this.oracle = new Oracle(this.plain, startAt);
    this.record = createWatchRun(toWatch(this.plain), new Date(startAt));
  }

  run(endAt: number): Summary {
    const startAt = this.now;
    const actionsPerTick = (this.plain.interval / 86_400) * 6;
    while (this.now < endAt) {
      if (this.random.chance(actionsPerTick)) this.act();
      this.tick();
    }
    const counted = { watched_ms: this.oracle.watchedMs, gap_ms: this.oracle.gapMs };
    this.expectEqual('coverage', this.totals, counted);
    const { countedUntil, pauses } = this.oracle;
    const paused = pauses.reduce((sum, { from, to }) => sum + activeBetween(this.plain, from, to), 0);
    const active = activeBetween(this.plain, startAt, countedUntil ?? pauses.at(-1)!.from) - paused;
    this.expectEqual('active time', this.totals.watched_ms + this.totals.gap_ms, active);
    return this.summary;
  }

  private tick(): void {
    const { next } = this.record;
    const plannedAt = next === null ? this.now : Date.parse(next.wait_until);
    const closing = next?.closing ?? false;
    this.now = Math.max(this.now, plannedAt) + this.lateMs() + this.random.integer(50, 900);
    this.capturedAt = this.now;
    const output: CaptureResult = closing ? { kind: 'not_captured' } : this.scene.screen(this.now);
    const screening = screenWatchCapture(this.record, output, new Date(this.now));
    const base = closing ? ({ kind: 'none' } as const) : this.scene.describe(this.now);
    const expectedKind = base.kind === 'fresh' ? this.expectedFresh() : base.kind;
    this.expectEqual('screening', screeningName(screening), expectedKind);
    if (screening.kind !== 'fresh') return this.decide(screening, plainTick(base, expectedKind));

    const questions = planQuestions(this.record);
    const asked = [...questions.joint, ...questions.separate].map(({ condition_id: id }) => id);
    const expectedAsked = this.oracle.asked();
    this.expectEqual('asked', asked.toSorted(), expectedAsked.toSorted());
    const alone = expectedAsked.filter((id) => this.oracle.isAskedAlone(id));
    this.expectEqual(
      'separate',
      questions.separate.map(({ condition_id: id }) => id),
      alone,
    );
    const calls = this.oracle.callsFor(expectedAsked);
    const segment = base.kind === 'fresh' ? base : { segmentSince: 0, segmentSeconds: 0 };
    const { segmentSince, segmentSeconds } = segment;
    const isReserved = this.reserve(calls);
    this.expectEqual('reserved', isReserved, this.oracle.reserve(calls, this.now));
    if (!isReserved) {
      const outcome: WatchOutcome = { kind: 'not_asked', captured: screening.captured, why: 'budget' };
      return this.decide(outcome, { kind: 'not_asked', segmentSince, segmentSeconds });
    }
    this.countCalls(calls);
    // A crash between the calls and the commit: the tick runs again later.
    if (this.random.chance(0.002)) {
      this.now += this.random.integer(1000, 40_000);
      return;
    }
    const { answers, plainAnswers, failed } = this.answer(questions);
    this.now += this.random.integer(200, 1500);
    if (this.random.chance(0.0005)) this.change();
    const current = new Map(this.plain.conditions.map(({ id, text }) => [id, text]));
    const kept = Object.fromEntries(
      answers
        .filter(({ condition_id: id, condition }) => current.get(id) === condition)
        .map(({ condition_id: id }) => [id, plainAnswers[id]]),
    );
    const used = { calls, micro_usd: 0, input_tokens: 1, output_tokens: 1 };
    const failure = failed ? { code: 'VLM_ERROR', message: 'failed', remediation: 'Try again.' } : null;
    const outcome: WatchOutcome = {
      kind: 'judged',
      captured: screening.captured,
      answers,
      used,
      failure,
      busy: false,
      earlier: [],
    };
    const hasVerdict = answers.some(({ verdict }) => verdict !== null);
    const judged = { kind: 'judged', answers: kept, alone, calls, hasVerdict, failed } as const;
    this.decide(outcome, { ...judged, segmentSince, segmentSeconds });
  }

  private expectedFresh(): string {
    return !this.scene.moved && this.oracle.skipsWithoutMotion(this.now) ? 'no_motion' : 'fresh';
  }

  private decide(outcome: WatchOutcome, plain: PlainTick): void {
    const all = planAllQuestions(this.record);
    const need = { calls: all.separate.length + (all.joint.length > 0 ? 1 : 0), micro_usd: 0 };
    const tick = { outcome, need, at: new Date(this.capturedAt) };
    const { next, ...decision } = decideWatchTick(this.record, tick, new Date(this.now), createAlertId);
    this.summary.ticks += 1;
    if (next.judged) this.scene.wasJudged();
    const set = { ...decision.set, next, last_tick: this.record.last_tick + 1 };
    this.apply({ ...decision, set }, this.oracle.tick(plain, this.now, this.capturedAt));
    this.expectEqual('next', Date.parse(next.wait_until), this.oracle.plannedAt);
    this.expectEqual('confirming', next.confirming, this.oracle.confirming);
    if (this.summary.ticks % 500 === 0) this.expectBounded();
  }

  private apply({ set, events, alerts, hours }: ReturnType<typeof changeWatch>, expected: string[]): void {
    this.expectEqual('events', events.map(describeEvent), expected);
    this.record = { ...this.record, ...set };
    for (const { counts } of hours) {
      this.totals.watched_ms += counts.watched_ms ?? 0;
      this.totals.gap_ms += counts.gap_ms ?? 0;
    }
    for (const change of alerts) {
      if (change.kind === 'open') {
        const { alert_id: id } = change.alert;
        if (this.usedAlerts.has(id)) this.fail(`the alert ${id} opened twice`);
        this.usedAlerts.add(id);
        this.openAlerts.add(id);
        this.summary.openings += 1;
      } else if (!this.openAlerts.has(change.alertId))
        this.fail(`${change.kind} of an alert that is not open`);
      else if (change.kind === 'close') this.openAlerts.delete(change.alertId);
    }
    for (const condition of this.record.state.conditions) {
      const known = this.oracle.conditions.get(condition.condition_id);
      if (condition.phase !== known?.phase) this.fail(`${condition.condition_id}: ${condition.phase}`);
      if (condition.alert && condition.alert.unconfirmed !== known.unconfirmed) this.fail('unconfirmed');
      if ((condition.phase === 'open') !== (condition.alert !== null)) this.fail('alert without opening');
    }
  }

  private act(): void {
    const at = new Date(this.now);
    const kind = this.random.integer(0, 4);
    if (kind === 0) {
      this.apply(pauseWatch(this.record, 'caller', at), this.oracle.pause(this.now));
      this.now += this.random.integer(1000, 3_600_000);
      this.apply(resumeWatch(this.record, new Date(this.now)), this.oracle.resume(this.now));
      this.scene.forget();
    } else if (kind === 1) this.change();
    else if (kind === 2) this.snooze(at);
    else this.acknowledge(at);
  }

  private change(): void {
    const plain = randomChange(this.random, this.plain);
    const watch = toWatch(plain);
    this.apply(
      changeWatch(this.record, { config: watch.config, isOtherStream: false }, new Date(this.now)),
      this.oracle.change(plain, this.now),
    );
    this.record = { ...this.record, ...watch };
    this.plain = plain;
    this.scene.forget();
    this.summary.changes += 1;
  }

  private snooze(at: Date): void {
    const seconds = this.random.integer(1, 7200);
    const id = this.random.pick([undefined, this.random.pick(this.plain.conditions).id]);
    this.record = { ...this.record, state: snoozeWatch(this.record.state, seconds, id, at) };
    for (const [other, condition] of this.oracle.conditions)
      if (id === undefined || other === id) condition.snoozedUntil = this.now + seconds * 1000;
  }

  private acknowledge(at: Date): void {
    const id = [...this.openAlerts][0];
    if (id === undefined) return;
    const result = acknowledgeAlert(this.record, id, 'caller', at);
    const [, condition] = [...this.oracle.conditions].find(
      ([conditionId]) =>
        this.record.state.conditions.find((state) => state.condition_id === conditionId)?.alert?.alert_id ===
        id,
    )!;
    this.expectEqual('acknowledged', result === undefined, condition.acknowledged);
    condition.acknowledged = true;
    if (result) this.record = { ...this.record, state: result.state };
  }

  private answer({ joint, separate }: Questions) {
    const answers: ConditionAnswer[] = [];
    const plainAnswers: Record<string, boolean | 'failed' | 'left_out'> = {};
    const modelFails = this.scene.modelFails(this.now);
    for (const rule of [...joint, ...separate]) {
      const { condition_id: id, condition } = rule;
      const isJoint = joint.includes(rule);
      const leftOut = !modelFails && isJoint && this.random.chance(this.scene.leftOutShare);
      const triggered = this.scene.holds(id, this.now) !== this.random.chance(0.03);
      const isJudged = !modelFails && !leftOut;
      const verdict = isJudged ? { triggered, explanation: `${id} ${triggered}` } : null;
      answers.push({ condition_id: id, condition, verdict, leftOut, joint: isJoint });
      plainAnswers[id] = isJudged ? triggered : leftOut ? 'left_out' : 'failed';
    }
    return { answers, plainAnswers, failed: modelFails };
  }

  private reserve(calls: number): boolean {
    const { config, state, last_tick: tick } = this.record;
    const zone = config.schedule?.time_zone ?? 'UTC';
    const day = localDay(zone, new Date(this.now));
    const before = budgetOnDay(config.budget, state.budget, day.date);
    const result = reserve(config.budget, before, tick + 1, { calls, micro_usd: 0 });
    if (result.kind === 'reserved')
      this.record = { ...this.record, state: { ...state, budget: result.budget } };
    return result.kind === 'reserved';
  }

  private countCalls(calls: number): void {
    this.summary.modelCalls += calls;
    if (this.plain.callsPerDay === null) return;
    const day = localDate(this.plain.zone, this.now);
    const made = (this.callsByDay.get(day) ?? 0) + calls;
    this.callsByDay.set(day, made);
    if (made > this.plain.callsPerDay) this.fail(`${made} calls on ${day}`);
  }

  /** The service is mostly on time; seldom it is down for up to two hours. */
  private lateMs(): number {
    if (this.random.chance(this.scene.isTroubled ? 0.02 : 0.0003))
      return this.random.integer(1000, 7_200_000);
    return this.random.chance(0.01) ? this.random.integer(0, 20_000) : 0;
  }

  private expectBounded(): void {
    watchStateSchema.parse(this.record.state);
    const bytes = JSON.stringify(this.record.state).length;
    if (bytes > 4096) this.fail(`the state has ${bytes} bytes`);
  }

  private expectEqual(what: string, actual: unknown, expected: unknown): void {
    if (actual === expected || isDeepStrictEqual(actual, expected)) return;
    this.fail(`${what} ${JSON.stringify(actual)}, expected ${JSON.stringify(expected)}`);
  }

  private fail(message: string): never {
    throw new Error(`Tick ${this.summary.ticks} at ${new Date(this.now).toISOString()}: ${message}`);
  }
}

function createAlertId(_watchId: string, _conditionId: string, opening: number): string {
  return `00000000-0000-4000-8000-${String(opening).padStart(12, '0')}`;
}

function screeningName(screening: ReturnType<typeof screenWatchCapture>): string {
  if (screening.kind === 'skipped') return screening.why;
  if (screening.kind === 'capture_failed') return screening.accessRefused ? 'refused' : 'failed';
  return screening.kind === 'no_capture' ? 'none' : screening.kind;
}

function plainTick(base: ReturnType<Scene['describe']> | { kind: 'none' }, kind: string): PlainTick {
  if (base.kind === 'fresh') {
    const { segmentSince, segmentSeconds } = base;
    if (kind !== 'no_motion') throw new Error(`${kind} is no tick without a question`);
    return { kind, segmentSince, segmentSeconds };
  }
  return base;
}

function describeEvent(event: NewWatchEvent): string {
  switch (event.type) {
    case 'alert_opened':
      return `open ${event.data.condition_id} #${Number(event.data.alert_id.slice(-12))}`;
    case 'alert_closed':
      return `close ${event.data.condition_id} ${event.data.reason}`;
    case 'alert_reminder':
      return `remind ${event.data.condition_id}`;
    case 'stream_lost':
      return `lost ${event.data.reason}`;
    case 'stream_recovered':
      return `recovered ${event.data.reason}`;
    case 'watch_changed':
      return `changed ${event.data.reason}`;
    case 'progress':
    case 'alert_acknowledged':
      return event.type;
  }
}
