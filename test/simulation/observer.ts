import { isDeepStrictEqual } from 'node:util';
import type { DatabaseSync } from 'node:sqlite';
import type { WatchEvent } from '../../core/records/watch-event.ts';
import type { WatchCondition } from '../../core/records/watch.ts';
import type { WatchRun } from '../../core/records/run.ts';
import { readHour, sumSpans } from '../../core/sight/spans.ts';
import type { SeenHour } from '../../core/records/sight.ts';
import type { AnalyzeInput } from '../../core/records/workflow.ts';
import { activeBetween, localDate } from './oracle/calendar.ts';
import { Oracle } from './oracle/oracle.ts';
import type { PlainConfig, PlainTick } from './oracle/plain.ts';
import type { CommitContexts } from './commit-contexts.ts';
import { findStatements, range, readEvents, readStored } from './read-runs.ts';
import type { Receiver, ToldEvent } from './receiver.ts';

type TickInput = Extract<AnalyzeInput, { operation: 'analyze' }>;
type Answer = boolean | 'failed' | 'left_out' | 'unsure';

/** Work of a task of the workflow so far. */
export type TickContext = {
  kind: 'tick';
  input: TickInput;
  /** Conditions that the model had to be asked about, at its first call. */
  asked: string[] | undefined;
  alone: string[];
  calls: number;
  /** True if a call failed. An unsure answer is no failure. */
  failed: boolean;
  /** Text and answer by condition. */
  answers: Map<string, { text: string; answer: Answer }>;
};

/** Request of a caller. */
export type ActionContext =
  | { kind: 'pause' | 'resume' | 'delete' }
  | { kind: 'change'; conditions: PlainConfig['conditions'] }
  | { kind: 'snooze'; id: string | undefined; seconds: number }
  | { kind: 'acknowledge'; alertId: string };

export type Context = TickContext | ActionContext;

type Stored = WatchRun;

/** Ids that the service assigns, in the order of the receivers. */
const destinationIds = ['webhook', 'webhook-2', 'pagerduty'];

/** Somewhat more characters than the largest state of a simulated watch has, so that one that grows is noticed. */
const maxLength = 4300;

/** Captures and calls of the model take less, and the maintenance of each minute repairs what a kill interrupted. */
const maxTickMs = 150_000;

/** Holds each commit of a watch in the database against the oracle. Throws at the first difference. */
export class WatchObserver {
  readonly runId: string;
  readonly oracle: Oracle;
  readonly receivers: readonly Receiver[];
  readonly summary = { ticks: 0, openings: 0 };
  readonly openAlerts = new Map<string, string>();
  configVersion = 1;
  isDeleted = false;
  private stored: Stored | undefined;
  private isLate = false;
  private readonly failing = new Set<string>();
  private lastCommit = { at: 0, disturbances: 0 };
  private readonly usedAlerts = new Set<string>();
  private readonly callsByDay = new Map<string, number>();
  /** First generation whose ticks count, by condition. */
  private since = new Map<string, number>();

  constructor(runId: string, plain: PlainConfig, receivers: readonly Receiver[]) {
    this.runId = runId;
    this.oracle = new Oracle(plain, plain.createdAt);
    this.receivers = receivers;
  }

  get plain(): PlainConfig {
    return this.oracle.config;
  }

  /** Reads the watch after a write to the database. */
  observe(
    database: DatabaseSync,
    commits: Pick<CommitContexts<Context>, 'of'>,
    now: number,
    disturbances: number,
  ): void {
    const row = findStatements(database).version.get(this.runId);
    if (row === undefined || row['version'] === this.stored?.version) return;
    const before = this.stored;
    const after = readStored(database, this.runId) as WatchRun;
    this.stored = after;
    const isTick = before !== undefined && before.last_tick !== after.last_tick;
    if (isTick && disturbances === this.lastCommit.disturbances) this.requireOnTime(now);
    this.lastCommit = { at: now, disturbances };
    const events = readEvents<WatchEvent>(database, this.runId, before?.sequence ?? 0);
    this.requireEqual(
      'sequences',
      events.map(({ sequence }) => sequence),
      range(before?.sequence ?? 0, after.sequence),
    );
    this.configVersion = after.config_version;
    const expected =
      before === undefined
        ? ['changed created']
        : this.expect(before, after, commits.of(this.runId, before, after), now);
    const described = events
      .filter((event) => !this.isOfDestination(event))
      .map((event) => this.describe(event));
    this.requireEqual('events', described, expected);
    for (const event of events) for (const receiver of this.receivers) receiver.expect(toToldEvent(event));
    if (before?.last_tick !== after.last_tick || events.length > 0) this.requireState(database, after);
  }

  /** Requires that the next tick is not overdue. */
  requireOnTime(now: number): void {
    const dueAt = Math.max(this.oracle.plannedAt, this.lastCommit.at);
    if (!this.oracle.paused && now - dueAt > maxTickMs)
      throw new Error(`The tick of ${new Date(dueAt).toISOString()} is overdue`);
  }

  /** Counts a call of the model, and requires that it is about the conditions that it must be about. */
  countCall(ids: readonly string[], context: TickContext, now: number): void {
    const { oracle } = this;
    if (context.asked === undefined) {
      const pending = oracle.asked();
      context.asked = pending.length > 0 ? pending : oracle.config.conditions.map(({ id }) => id);
      context.alone = context.asked.filter((id) => oracle.isAskedAlone(id));
      const { callsPerDay } = oracle.config;
      const day = localDate(oracle.config.zone, now);
      const calls = (this.callsByDay.get(day) ?? 0) + oracle.callsFor(context.asked);
      this.callsByDay.set(day, calls);
      if (callsPerDay !== null && calls > callsPerDay)
        throw new Error(`${calls} calls of ${callsPerDay} on ${day}`);
      if (callsPerDay !== null)
        this.requireEqual(
          'calls without reservation',
          oracle.reserved?.calls,
          oracle.callsFor(context.asked),
        );
    }
    context.calls += 1;
    const isAlone = ids.length === 1 && context.alone.includes(ids[0] ?? '');
    const expected = isAlone ? ids : context.asked.filter((id) => !context.alone.includes(id));
    this.requireEqual('asked', ids.toSorted(), expected.toSorted());
  }

  private expect(before: Stored, after: Stored, context: Context | undefined, now: number): string[] {
    const { oracle } = this;
    if (context?.kind === 'tick') {
      if (after.last_tick !== before.last_tick) return this.expectTick(context, now);
      const { reserved } = after.state.budget ?? { reserved: null };
      if (!reserved) return this.expectRestart(before, after, now);
      const asked = oracle.asked();
      const calls = oracle.callsFor(asked.length > 0 ? asked : oracle.config.conditions.map(({ id }) => id));
      this.requireEqual('reserved', reserved.calls, calls);
      if (!oracle.reserve(calls, now)) throw new Error('Calls were reserved beyond the budget');
      return [];
    }
    switch (context?.kind) {
      case undefined:
        return this.expectRestart(before, after, now);
      case 'pause':
        this.countSince(after, () => true);
        return oracle.pause(now);
      case 'resume':
        this.countSince(after, () => true);
        return oracle.resume(now);
      case 'delete': {
        this.isDeleted = true;
        const ended = [
          ...(oracle.exhausted ? ['changed budget_renewed'] : []),
          ...(this.isLate ? ['changed checks_in_time'] : []),
          ...(oracle.modelLost ? ['changed model_recovered'] : []),
        ];
        const events = oracle.pause(now).map((event) => event.replace('paused', 'deleted'));
        return events.toSpliced(-1, 0, ...ended);
      }
      case 'change': {
        const texts = new Map(oracle.config.conditions.map(({ id, text }) => [id, text]));
        this.countSince(after, ({ condition_id: id, condition }) => texts.get(id) !== condition);
        return oracle.change({ ...oracle.config, conditions: context.conditions }, now);
      }
      case 'snooze':
        for (const [id, condition] of oracle.conditions)
          if (context.id === undefined || id === context.id)
            condition.snoozedUntil = now + context.seconds * 1000;
        return [];
      case 'acknowledge': {
        const condition = oracle.conditions.get(this.openAlerts.get(context.alertId) ?? '');
        if (!condition || condition.acknowledged) return [];
        condition.acknowledged = true;
        return [`acknowledge ${this.openAlerts.get(context.alertId)}`];
      }
    }
  }

  /** Lets the ticks from a change on count for the conditions that began with it. */
  private countSince({ config, generation }: Stored, isNew: (rule: WatchCondition) => boolean): void {
    const ids = config.conditions.map(({ condition_id: id }) => id);
    const since = (id: string) => this.since.get(id) ?? 0;
    this.since = new Map(ids.map((id) => [id, since(id)]));
    for (const rule of config.conditions.filter(isNew)) this.since.set(rule.condition_id, generation);
  }

  /** A commit of the maintenance: a lease, or a new generation after a failure, which waits at most five minutes. */
  private expectRestart(before: Stored, after: Stored, now: number): string[] {
    const { oracle } = this;
    const { next } = after;
    if (after.generation === before.generation) {
      this.requireEqual('state', [after.state, after.sight], [before.state, before.sight]);
      return [];
    }
    const same = (state: WatchRun['state']) => ({ ...state, failed_executions: 0 });
    this.requireEqual('restarted state', same(after.state), same(before.state));
    if (next) {
      oracle.plannedAt = Date.parse(next.wait_until);
      oracle.confirming = false;
      if (oracle.plannedAt > now + 301_000) throw new Error('The watch waits too long after a failure');
    }
    return [];
  }

  private expectTick(context: TickContext, now: number): string[] {
    this.summary.ticks += 1;
    const { plannedAt } = this.oracle;
    const lateMs = plannedAt === 0 ? 0 : now - plannedAt;
    const wasLate = this.isLate;
    this.isLate = Math.floor(lateMs / 1000) > (wasLate ? 150 : 300);
    const late = this.isLate === wasLate ? [] : [`changed ${this.isLate ? 'checks_late' : 'checks_in_time'}`];
    const { captured } = context.input;
    const tick = this.toPlainTick(context, now);
    const at = tick.kind === 'none' ? now : Math.min(Date.parse(captured.began_at), now);
    const shownAt = captured.kind === 'captured' ? Math.min(Date.parse(captured.captured_at), now) : at;
    return [...this.oracle.tick(tick, now, at, shownAt), ...late];
  }

  /** Returns true for news of a destination, which must have failed four times in a row, or work again. */
  private isOfDestination({ type, data }: WatchEvent): boolean {
    if (type !== 'watch_changed' || data.destination_id === undefined) return false;
    const { destination_id: id, reason } = data;
    const receiver = this.receivers[destinationIds.indexOf(id)];
    const isFailure = reason === 'destination_failed';
    if (isFailure === this.failing.has(id)) throw new Error(`${id}: ${reason} twice`);
    if (isFailure && (receiver?.failures ?? 0) < 4) throw new Error(`${id} has not failed four times`);
    if (isFailure) this.failing.add(id);
    else this.failing.delete(id);
    return true;
  }

  /** Returns the tick in the words of the oracle, by the facts of camera and model. */
  private toPlainTick(context: TickContext, now: number): PlainTick {
    const { oracle } = this;
    const { captured } = context.input;
    if (captured.kind === 'not_captured') return { kind: 'none' };
    if (captured.kind === 'failed') return { kind: captured.access_refused ? 'refused' : 'failed' };
    if (captured.kind !== 'captured') return { kind: captured.kind };
    const { seen, repeated, black, moved } = captured;
    const segment = { segmentSince: Date.parse(seen.since), segmentSeconds: seen.position.segment_seconds };
    const seenAt = Date.parse(seen.seen_at);
    const identicalSince = seen.identical_since === null ? seenAt : Date.parse(seen.identical_since);
    if (repeated && seenAt - segment.segmentSince > Math.max(6, 3 * segment.segmentSeconds) * 1000)
      return { kind: 'stale', ...segment };
    if (black) return { kind: 'black', ...segment };
    if (seenAt - identicalSince >= 30_000) return { kind: 'frozen', identicalSince, ...segment };
    if (repeated) return { kind: 'repeated', ...segment };
    if (!oracle.isOnSchedule(Date.parse(captured.began_at))) return { kind: 'no_motion', ...segment };
    if (context.asked === undefined) {
      if (!moved && oracle.skipsWithoutMotion(Date.parse(captured.captured_at)))
        return { kind: 'no_motion', ...segment };
      const asked = oracle.asked();
      const calls = oracle.callsFor(asked.length > 0 ? asked : oracle.config.conditions.map(({ id }) => id));
      if (oracle.reserve(calls, now)) throw new Error('A fresh capture was not judged');
      return { kind: 'not_asked', ...segment };
    }
    const counted = oracle.config.conditions.filter(
      ({ id }) => context.input.generation >= (this.since.get(id) ?? 0),
    );
    if (counted.length === 0) return { kind: 'none', calls: context.calls };
    const texts = new Map(counted.map(({ id, text }) => [id, text]));
    const answers: Record<string, Answer> = {};
    for (const [id, { text, answer }] of context.answers) if (texts.get(id) === text) answers[id] = answer;
    const hasVerdict = [...context.answers.values()].some(({ answer }) => typeof answer === 'boolean');
    const { alone, calls, failed } = context;
    return { kind: 'judged', answers, alone, calls, hasVerdict, failed, ...segment };
  }

  private describe(event: WatchEvent): string {
    switch (event.type) {
      case 'alert_opened': {
        const { alert_id: id, condition_id: conditionId } = event.data;
        if (this.usedAlerts.has(id)) throw new Error(`The alert ${id} opened twice`);
        this.usedAlerts.add(id);
        this.openAlerts.set(id, conditionId);
        this.summary.openings += 1;
        return `open ${conditionId} #${this.summary.openings}`;
      }
      case 'alert_closed': {
        const { alert_id: id, condition_id: conditionId, reason } = event.data;
        if (this.openAlerts.get(id) !== conditionId)
          throw new Error(`The alert ${id} closed without being open`);
        this.openAlerts.delete(id);
        return `close ${conditionId} ${reason}`;
      }
      case 'alert_reminder':
        if (!this.openAlerts.has(event.data.alert_id))
          throw new Error('A reminder of an alert that is not open');
        return `remind ${event.data.condition_id}`;
      case 'alert_acknowledged':
        return `acknowledge ${event.data.condition_id}`;
      case 'alert_clip':
        return `clip ${event.data.condition_id}`;
      case 'stream_lost':
        return `lost ${event.data.reason}`;
      case 'stream_recovered':
        return `recovered ${event.data.reason}`;
      case 'watch_changed':
        return `changed ${event.data.reason}`;
      case 'progress':
        return 'progress';
    }
  }

  private requireState(database: DatabaseSync, { state, sight, next, status: actualStatus }: Stored): void {
    const { oracle } = this;
    const phases = (conditions: Iterable<[string, { phase: string }]>) =>
      Object.fromEntries([...conditions].map(([id, { phase }]) => [id, phase]));
    this.requireEqual(
      'phases',
      phases(state.conditions.map((each) => [each.condition_id, each])),
      phases(oracle.conditions),
    );
    this.requireEqual(
      'holding',
      state.conditions.flatMap(({ holding }) => (holding ? [Date.parse(holding.since)] : [])),
      state.conditions.flatMap(({ condition_id: id }) => oracle.conditions.get(id)?.hold?.from ?? []),
    );
    const status = oracle.paused
      ? 'paused'
      : oracle.offSchedule
        ? 'off_schedule'
        : oracle.exhausted
          ? 'budget_exhausted'
          : oracle.lost
            ? 'stream_lost'
            : 'active';
    if (!this.isDeleted) this.requireEqual('status', actualStatus, status);
    if (!oracle.paused && next) {
      this.requireEqual('next', new Date(next.wait_until), new Date(oracle.plannedAt));
      this.requireEqual('confirming', next.confirming, oracle.confirming);
    }
    const open = findStatements(database)
      .openAlerts.all(this.runId)
      .map((row) => String(row['alert_id']));
    this.requireEqual('open alerts', open.toSorted(), [...this.openAlerts.keys()].toSorted());
    const { length } = JSON.stringify({ state, sight });
    if (length > maxLength) throw new Error(`The state has ${length} characters, of at most ${maxLength}`);
  }

  /** Requires the stored coverage to be that of the oracle, to the millisecond. */
  requireCoverage(database: DatabaseSync): { watched: number; gap: number } {
    const totals = { watched: 0, gap: 0 };
    const rows = database.prepare('SELECT hour, record FROM watch_hours WHERE watch_id = ?').all(this.runId);
    for (const row of rows) {
      const [hour, record] = [String(row['hour']), String(row['record'])];
      const counts: { watched_ms?: number; gap_ms?: number; seen?: SeenHour } = JSON.parse(record);
      const { watched_ms: watched = 0, gap_ms: gap = 0, seen } = counts;
      totals.watched += watched;
      totals.gap += gap;
      const sums = sumSpans(readHour(new Date(hour), seen));
      const seconds = Object.values(sums).reduce((sum, each) => sum + each, 0);
      // Spans are in tenths of a second.
      if (Math.abs(seconds - (watched + gap) / 1000) > 6)
        throw new Error(`The spans of ${hour} have ${seconds} s`);
      if (sums.not_seen < gap / 1000 - 6) throw new Error(`The gaps of ${hour} have ${sums.not_seen} s`);
    }
    const { config, countedUntil, pauses, watchedMs, gapMs } = this.oracle;
    this.requireEqual('coverage', totals, { watched: watchedMs, gap: gapMs });
    const until = countedUntil ?? pauses.at(-1)?.from ?? config.createdAt;
    const paused = pauses.reduce((sum, { from, to }) => sum + activeBetween(config, from, to), 0);
    const active = activeBetween(config, config.createdAt, until) - paused;
    this.requireEqual('active time', totals.watched + totals.gap, active);
    return totals;
  }

  private requireEqual(what: string, actual: unknown, expected: unknown): void {
    if (isDeepStrictEqual(actual, expected)) return;
    throw new Error(`${what}: ${JSON.stringify(actual)}, expected ${JSON.stringify(expected)}`);
  }
}

function toToldEvent({ sequence, type, data }: WatchEvent): ToldEvent {
  const severity = 'severity' in data ? data.severity : null;
  const failing =
    type === 'watch_changed' && data.reason === 'destination_failed' ? (data.destination_id ?? null) : null;
  const reason = type === 'watch_changed' ? data.reason : null;
  return { sequence, type, alertId: 'alert_id' in data ? data.alert_id : null, severity, reason, failing };
}
