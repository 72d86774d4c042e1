import { shortestVisitOfWatch } from '../../core/policies/watch/shortest-visit-of-watch.ts';
import { listActive } from '../../core/policies/watch/schedule.ts';
import { extendHour, readHour } from '../../core/sight/spans.ts';
import type { SeenHour, Span } from '../../core/records/sight.ts';
import { isWatchEvent, type WatchRun } from '../../core/records/run.ts';
import type { RunChange } from '../../core/ports/runs.ts';
import { sumByHour } from '../../core/watch/stored-watch.ts';
import type { Schedule } from '../../core/records/watch.ts';
import { start } from '../contract/records.ts';
import { newWatch } from '../support/watches/watch-world.ts';
import { Random } from './random.ts';
import { VisitedCamera, type StreamKind, type Visit } from './visited-camera.ts';
import { createVisitedWatch, type VisitedWatch } from './visited-watch.ts';

const kinds: readonly StreamKind[] = [
  { keyFrameMs: 500, segmentMs: 0 },
  { keyFrameMs: 1000, segmentMs: 0 },
  { keyFrameMs: 2000, segmentMs: 0 },
  { keyFrameMs: 4000, segmentMs: 0 },
  { keyFrameMs: 1000, segmentMs: 2000 },
  { keyFrameMs: 2000, segmentMs: 2000 },
  { keyFrameMs: 2000, segmentMs: 6000 },
  { keyFrameMs: 4000, segmentMs: 4000 },
];
const days = ['mon', 'tue', 'wed', 'thu', 'fri', 'sat', 'sun'] as const;

/**
 * Visit that must be told, if the watch has claimed less than its duration from the tick before it to the one that sees
 * its end.
 */
type Expected = Visit & { claims: number[]; isClear: boolean };

export type VisitSummary = { visits: number; required: number; quietSeconds: number };

/**
 * Runs a watch of a camera with visits and other motion, whose alerts open after a time. Throws at the first claim that
 * is not true.
 */
export async function runVisits(seed: number, ticks: number, openAfter = 0): Promise<VisitSummary> {
  return new VirtualVisits(seed).run(ticks, openAfter);
}

class VirtualVisits {
  private readonly random: Random;
  private readonly camera: VisitedCamera;
  private readonly intervalSeconds: number;
  private readonly toOpen: number;
  private readonly schedule: Schedule | null;
  private readonly expected: Expected[] = [];

  constructor(seed: number) {
    this.random = new Random(seed);
    this.intervalSeconds = this.random.pick([5, 10, 10, 30, 60, 300]);
    this.toOpen = this.random.pick([1, 2, 2, 3]);
    this.camera = new VisitedCamera(this.random.pick(kinds), start.getTime() - 3_600_000);
    const spans = { days: [...days], from: '12:20', to: '13:40' };
    this.schedule = this.random.chance(0.3)
      ? { time_zone: 'UTC', active: [spans, { ...spans, from: '14:00', to: '11:50' }] }
      : null;
  }

  async run(ticks: number, openAfter: number): Promise<VisitSummary> {
    const { random, camera, intervalSeconds, toOpen, schedule } = this;
    const phase = random.integer(0, 1000 * intervalSeconds - 1);
    const budget = random.chance(0.3) ? { model_calls_per_day: 400, usd_per_day: null } : null;
    const watch = newWatch({ interval: intervalSeconds, toOpen, openAfter, phase, schedule, budget });
    const visited = createVisitedWatch(watch, camera, random);
    let step = await visited.run.begin();
    for (let count = 0; count < ticks; count += 1) {
      this.plan(visited.run.read(), visited.clock.now.getTime());
      step = await visited.tick(step);
    }
    return this.requireClaims(visited);
  }

  /**
   * Lets things come at random, each visit at a moment when none is there and with a duration around the one that is
   * claimed.
   */
  private plan(watch: WatchRun, now: number): void {
    const { random, camera, expected } = this;
    const claim = shortestVisitOfWatch(watch);
    for (const visit of expected)
      if (now < visit.to + 3000 * this.intervalSeconds + 60_000) visit.claims.push(claim);
    const isLate = (list: readonly { to: number }[]) => (list.at(-1)?.to ?? 0) < now;
    if (isLate(camera.troubles) && random.chance(0.01)) {
      const from = now + random.integer(0, 20_000);
      const to = from + 1000 * random.pick([5, 40, 400]);
      camera.troubles.push({ kind: random.pick(['gone', 'silent']), from, to });
    }
    const add = (seconds: number, isOther: boolean) => {
      const from = now + random.integer(0, 1000 * this.intervalSeconds);
      const visit = { from, to: from + Math.ceil(seconds * 1000) + 1, share: random.next() / 2, isOther };
      camera.visits.push(visit);
      return visit;
    };
    if (random.chance(0.3)) add(random.integer(1, 20), true);
    if (random.chance(0.02)) add(10_000, true);
    if (!isLate(expected) || !random.chance(0.25)) return;
    const [condition] = watch.state.conditions;
    const visit = add(claim * random.pick([0.3, 1, 1, 1, 1.2, 3]), false);
    expected.push({ ...visit, claims: [claim], isClear: condition?.phase === 'clear' });
  }

  private requireClaims({ run, clock: { now: end }, changes }: VisitedWatch): VisitSummary {
    const { camera, expected, schedule } = this;
    const spans = listSpans(changes);
    const quiet = spans.filter((span) => span.class === 'quiet');
    for (const visit of camera.visits) this.requireMotion(visit, quiet);
    const { counted_until: countedUntil } = run.read().sight;
    const active = listActive(schedule, start, new Date(countedUntil ?? end)).reduce(sumMs, 0);
    const counted = spans.reduce(sumMs, 0);
    if (Math.abs(active - counted) > 1000 + spans.length * 100)
      throw new Error(`${counted} ms of ${active} ms have a class`);
    const events = changes.flatMap((change) => change.events.filter(isWatchEvent));
    const opened = events.flatMap((event) =>
      event.type === 'alert_opened' ? Date.parse(event.data.opened_at) : [],
    );
    const required = expected.filter((visit) => this.isRequired(visit, spans, opened, end.getTime()));
    for (const { from, to, claims } of required) {
      const count = opened.filter((at) => from <= at && at < to + 1000).length;
      if (count !== 1)
        throw new Error(
          `The visit of ${new Date(from).toISOString()} with ${to - from} ms was told ${count} times: ${JSON.stringify(
            {
              claims,
              interval: this.intervalSeconds,
              toOpen: this.toOpen,
              ...camera.kind,
            },
          )}`,
        );
    }
    return {
      visits: expected.length,
      required: required.length,
      quietSeconds: quiet.reduce(sumMs, 0) / 1000,
    };
  }

  /** Requires that the first picture of a thing is in no quiet span. */
  private requireMotion({ from, to }: Visit, quiet: readonly Span[]): void {
    const { keyFrameMs } = this.camera.kind;
    const zero = start.getTime() - 3_600_000;
    const first = zero + Math.ceil((from - zero) / keyFrameMs) * keyFrameMs;
    if (first >= to) return;
    const within = quiet.find((span) => span.from.getTime() + 50 < first && first <= span.to.getTime());
    if (within)
      throw new Error(`Motion at ${new Date(first).toISOString()} in quiet ${JSON.stringify(within)}`);
  }

  /** True if the watch saw all of a visit of the claimed duration, with no alert or other visit before it. */
  private isRequired(
    visit: Expected,
    spans: readonly Span[],
    opened: readonly number[],
    endMs: number,
  ): boolean {
    const { from, to, claims, isClear } = visit;
    const marginMs = 2000 * this.intervalSeconds + 60_000;
    const isIn = (span: { from: Date; to: Date }) =>
      span.from.getTime() < to + marginMs && from - marginMs < span.to.getTime();
    const active = listActive(this.schedule, new Date(from), new Date(to)).reduce(sumMs, 0);
    return (
      isClear &&
      to - from > 1000 * Math.max(...claims) &&
      active === to - from &&
      to + marginMs < endMs &&
      !spans.some((span) => span.class === 'not_seen' && isIn(span)) &&
      !this.camera.troubles.some(({ from: begin, to: until }) =>
        isIn({ from: new Date(begin), to: new Date(until) }),
      ) &&
      !opened.some((at) => from - marginMs < at && at < from)
    );
  }
}

/** Returns the classes of the time as a store keeps them by the hour. */
function listSpans(changes: readonly RunChange[]): Span[] {
  const hours = new Map<string, SeenHour>();
  for (const { hour, seen } of changes.flatMap((change) => sumByHour(change.hours)))
    if (seen) hours.set(hour, extendHour(new Date(hour), hours.get(hour), seen));
  return [...hours].flatMap(([hour, seen]) => readHour(new Date(hour), seen));
}

function sumMs(sum: number, { from, to }: { from: Date; to: Date }): number {
  return sum + to.getTime() - from.getTime();
}
