import { applyRunChange } from '../../../core/event/stored-run.ts';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { noUse } from '../../../core/records/caller.ts';
import { changeWatch, pauseWatch, resumeWatch } from '../../../core/policies/watch/change.ts';
import { mapWatchTimes } from '../../../core/policies/watch/map-times.ts';
import { planTickClosure } from '../../../core/policies/digest/window-closure.ts';
import { createWatchRun } from '../../../core/policies/watch/initial-state.ts';
import type { WatchOutcome } from '../../../core/policies/watch/outcome.ts';
import { decideWatchTick } from '../../../core/policies/watch/decide-tick.ts';
import type { Job } from '../../../core/records/job.ts';
import type { WatchRun } from '../../../core/records/run.ts';
import { atTick, onClock } from '../../../core/sight/clock-change.ts';
import { mapJobTimes } from '../../../core/policies/job/map-times.ts';
import { computeCoverage } from '../../../core/policies/job/coverage.ts';
import { withDecisions } from '../../../core/policies/job-policies.ts';
import type { JobOutcome } from '../../../core/policies/job/outcome.ts';
import { start } from '../../contract/records.ts';
import { captured, looked, missed, runningDigest, runningJob } from '../../support/watching.ts';
import { activeBetween } from '../../simulation/oracle/calendar.ts';
import type { PlainConfig } from '../../simulation/oracle/plain.ts';
import { toWatch } from '../../simulation/watch-request.ts';

/**
 * Random lives of runs of each policy: outages of stream, model and service, edits, pauses, and a wall clock that is
 * set forward and back. Watched time and gaps together are the active time, by an independent account of it.
 */

type TypeOf<Arbitrary> = Arbitrary extends fc.Arbitrary<infer Value> ? Value : never;

const outcome = fc.constantFrom(
  'seen' as const,
  'seen' as const,
  'still' as const,
  'repeated' as const,
  'stream' as const,
  'model' as const,
  'service' as const,
);
type Outcome = TypeOf<typeof outcome>;

const tick = fc.record({
  kind: fc.constant('tick' as const),
  outcome,
  lateSeconds: fc.oneof({ weight: 5, arbitrary: fc.constant(0) }, fc.integer({ min: 1, max: 20_000 })),
  /** Time from the begin of the capture to the decision. */
  takesSeconds: fc.integer({ min: 0, max: 40 }),
  stretch: fc.constantFrom(1, 1, 4),
});
const clock = fc.record({
  kind: fc.constant('clock' as const),
  seconds: fc.constantFrom(-7200, -3600, -40, -3, 3, 40, 3600),
});
const schedule = fc.constantFrom<PlainConfig['schedule']>(
  null,
  [{ days: ['sun', 'mon'], from: '11:00', to: '15:30' }],
  [{ days: ['sun', 'mon', 'tue'], from: '22:00', to: '06:00' }],
);
const edit = fc.record({ kind: fc.constant('edit' as const), schedule });
const pause = fc.record({
  kind: fc.constant('pause' as const),
  seconds: fc.integer({ min: 0, max: 9000 }),
});
type Step = TypeOf<typeof tick> | TypeOf<typeof clock> | TypeOf<typeof edit> | TypeOf<typeof pause>;

const stepsOfJob = fc.array(fc.oneof({ weight: 8, arbitrary: tick }, clock), { maxLength: 60 });
const stepsOfWatch = fc.array(
  fc.oneof({ weight: 12, arbitrary: tick }, { weight: 3, arbitrary: clock }, edit, pause),
  {
    maxLength: 80,
  },
);

/** Ends each life with a tick that sees the stream, which counts what is left. */
const lastTick: Step = { kind: 'tick', outcome: 'seen', lateSeconds: 0, takesSeconds: 0, stretch: 1 };

/** Run of one policy: `tick` and changes return the next wake-up, or null once the run has ended. */
type Subject = {
  tick(step: TypeOf<typeof tick>, at: Date, now: Date): Date | null;
  edit?(to: TypeOf<typeof schedule>, now: Date): void;
  pause?(now: Date): void;
  resume?(now: Date): void;
  /** Time of the last count. */
  countedUntil?(): number;
  /** Watched time and gaps so far, in seconds. */
  counted(now: Date): number;
  /** True if all of the time is active. */
  isAlwaysActive: boolean;
};

/** Differences between clocks that the service ignores, in seconds. */
const ignoredSeconds = 5;

/** Lives through the steps, and requires what the service can know of the time that has passed. */
function live(subject: Subject, steps: Step[]): void {
  let wall = start.getTime();
  let passed = 0;
  let wakeAt: number | null = wall;
  let lastEvent = { wall, passed };
  /** Bounds of the time that the run has lived, in milliseconds. */
  let [least, most] = [0, 0];
  const pass = (ms: number) => {
    wall += ms;
    passed += ms;
  };
  /** `lostMs`: time that a run cannot tell from the step of a clock that was set back. */
  const account = (lostMs: number) => {
    const [byWall, byTimer] = [wall - lastEvent.wall, passed - lastEvent.passed];
    // A clock that was set forward cannot be told from sleep; of one that was set back, the time since the last event
    // is not exact.
    const wasSetBack = byWall < byTimer;
    least += wasSetBack ? Math.max(0, byWall) - ignoredSeconds * 1000 - lostMs : byWall;
    most += wasSetBack ? byTimer + ignoredSeconds * 1000 : byWall;
    lastEvent = { wall, passed };
  };
  for (const step of [...steps, lastTick, lastTick]) {
    if (wakeAt === null) return;
    switch (step.kind) {
      case 'clock':
        wall += step.seconds * 1000;
        wakeAt += step.seconds * 1000;
        break;
      case 'edit':
        pass(500);
        account(Math.max(0, lastEvent.wall - (subject.countedUntil?.() ?? lastEvent.wall)));
        subject.edit?.(step.schedule, new Date(wall));
        wakeAt = wall;
        break;
      case 'pause':
        pass(500);
        account(Math.max(0, lastEvent.wall - (subject.countedUntil?.() ?? lastEvent.wall)));
        subject.pause?.(new Date(wall));
        pass(step.seconds * 1000);
        subject.resume?.(new Date(wall));
        lastEvent = { wall, passed };
        wakeAt = wall;
        break;
      case 'tick': {
        pass(Math.max(0, wakeAt - wall) + step.lateSeconds * 1000);
        const at = wall;
        account(step.takesSeconds * 1000);
        pass(step.takesSeconds * 1000);
        const next = subject.tick(step, new Date(at), new Date(wall));
        wakeAt = next && next.getTime();
      }
    }
  }
  if (!subject.isAlwaysActive) return;
  const takenMs = wall - lastEvent.wall;
  const counted = subject.counted(new Date(wall)) * 1000;
  expect(counted).toBeGreaterThanOrEqual(least);
  expect(counted).toBeLessThanOrEqual(most + takenMs);
}

function liveJob(first: Job): Subject {
  let job = first;
  return {
    isAlwaysActive: true,
    tick: ({ outcome: kind, stretch }, at, now) => {
      const due = atTick(job, now, mapJobTimes);
      const times = { at: at < due.now ? at : due.now, askedAt: due.now };
      const seen: JobOutcome = due.run.next?.closing
        ? { kind: 'no_capture' }
        : { ...(job.policy === 'digest' ? ofDigest(kind, at) : ofMonitor(kind, at)), times };
      const closing = due.run.policy === 'digest' ? planTickClosure(due.run, seen, due.now) : undefined;
      const closed = closing && { closing, result: { kind: 'none' as const, why: null }, gridKey: null };
      const outcome = { ...seen, closed };
      const decision = withDecisions(due.run, (of, { decide }) => decide(of, outcome, due.now, stretch));
      const { counters, sight, state, next, ending } = decision;
      const set = { counters, sight, state, next, last_tick: job.last_tick + 1 };
      job = applyRunChange(due.run, { set });
      const { watched_seconds: watched, gap_seconds: gap } = computeCoverage(job, due.now);
      const elapsed = (due.now.getTime() - Date.parse(job.started_at!)) / 1000;
      expect(watched + gap).toBeCloseTo(elapsed, 2);
      const bounds = job.sight.gaps.flatMap(({ from, to }) => [from, to]);
      expect(bounds).toEqual(bounds.toSorted());
      expect(Date.parse(job.sight.counted_until!)).toBeLessThanOrEqual(due.now.getTime());
      return ending ? null : new Date(next.wait_until);
    },
    counted: (now) => {
      const { watched_seconds: watched, gap_seconds: gap } = computeCoverage(job, now);
      return watched + gap;
    },
  };
}

function ofMonitor(kind: Outcome, at: Date): JobOutcome {
  if (kind === 'seen') return looked(false);
  return kind === 'model' ? missed : ofStream(kind, at);
}

function ofDigest(kind: Outcome, at: Date): JobOutcome {
  return kind === 'seen' || kind === 'model'
    ? { kind: 'sampled', captured: captured({}, at) }
    : ofStream(kind, at);
}

function ofStream(kind: Exclude<Outcome, 'seen' | 'model'>, at: Date) {
  if (kind === 'service') return { kind: 'unavailable', message: 'No process is free' } as const;
  if (kind === 'stream') return noPicture;
  const why = kind === 'still' ? ('no_motion' as const) : ('repeated' as const);
  return { kind: 'skipped', why, captured: captured({}, at) } as const;
}

const noPicture = {
  kind: 'capture_failed',
  code: 'STREAM_FETCH_FAILED',
  message: 'Failed to fetch stream',
  remediation: 'Try again.',
  accessRefused: false,
} as const;

function liveWatch(plain: PlainConfig): Subject {
  let run: WatchRun = createWatchRun(toWatch(plain), start);
  let config = plain;
  let countedMs = 0;
  const subject: Subject = {
    isAlwaysActive: true,
    tick: ({ outcome: kind, stretch }, at, now) => {
      const due = atTick(run, now, mapWatchTimes);
      const seen: WatchOutcome = due.run.next?.closing ? { kind: 'no_capture' } : ofWatch(kind, at);
      const beganAt = at < due.now ? at : due.now;
      const input = { outcome: seen, need: { calls: 0, micro_usd: 0 }, stretch, at: beganAt };
      const { set, next, hours } = decideWatchTick(due.run, input, due.now, () => 'alert');
      commit(due.run, { ...set, next }, hours, due.now);
      return new Date(next.wait_until);
    },
    edit: (to, now) => {
      const moved = onClock(run, now, mapWatchTimes);
      const changed = { ...config, schedule: to };
      const edited = { config: toWatch(changed).config, isOtherStream: false };
      const { set, hours } = changeWatch(moved, edited, now);
      commit(moved, set, hours, now);
      run = { ...run, config: edited.config };
      config = changed;
      subject.isAlwaysActive &&= to === null;
    },
    pause: (now) => {
      const moved = onClock(run, now, mapWatchTimes);
      const { set, hours } = pauseWatch(moved, 'paused', now);
      commit(moved, set, hours, now);
    },
    resume: (now) => {
      const { set, hours } = resumeWatch(run, now);
      commit(run, set, hours, now);
    },
    countedUntil: () => Date.parse(run.sight.counted_until!),
    counted: () => countedMs / 1000,
  };
  return subject;

  /** Requires that the counts are the active time from the last count, on the clock of this one. */
  function commit(
    before: WatchRun,
    set: Partial<WatchRun>,
    hours: ReturnType<typeof changeWatch>['hours'],
    now: Date,
  ): void {
    run = { ...before, ...set };
    const ms = hours.reduce((sum, { counts }) => sum + (counts.watched_ms ?? 0) + (counts.gap_ms ?? 0), 0);
    countedMs += ms;
    const { counted_until: from } = before.sight;
    if (from === null) return;
    const to = Math.max(Date.parse(run.sight.counted_until ?? now.toISOString()), Date.parse(from));
    expect(ms).toBe(activeBetween(config, Date.parse(from), to));
    // Time that lies ahead of the clock would not be counted when it comes.
    expect(Date.parse(from)).toBeLessThanOrEqual(now.getTime() + ignoredSeconds * 1000);
  }
}

function ofWatch(kind: Outcome, at: Date): WatchOutcome {
  if (kind !== 'seen' && kind !== 'model') return ofStream(kind, at);
  const failure = { code: 'VLM_ERROR', message: 'It is down', remediation: 'Wait.' };
  const verdict = kind === 'seen' ? { triggered: false, explanation: 'Nobody.' } : null;
  return {
    kind: 'judged',
    captured: captured({}, at),
    answers: [{ condition_id: 'person', condition: 'A person', verdict, leftOut: false, joint: true }],
    used: { ...noUse, model_calls: 1, input_tokens: 1, output_tokens: 1 },
    failure: kind === 'seen' ? null : failure,
    busy: false,
    earlier: [],
  };
}

const longSeconds = 30 * 86_400;

test('watched time and gaps of a monitor are the time since its start, whatever its clock does', () => {
  fc.assert(
    fc.property(stepsOfJob, (steps) => {
      const config = { monitor_duration_seconds: longSeconds, max_triggers: null };
      live(liveJob(runningJob(config, { model_grace_seconds: longSeconds })), steps);
    }),
    { numRuns: 300 },
  );
});

test('watched time and gaps of a digest are the time since its start, whatever its clock does', () => {
  fc.assert(
    fc.property(stepsOfJob, (steps) => {
      const config = {
        digest_duration_seconds: longSeconds,
        capture_interval_seconds: 20,
        window_minutes: 3,
      };
      live(liveJob(runningDigest(config)), steps);
    }),
    { numRuns: 300 },
  );
});

test('watched time and gaps of a watch are its active time, for any schedules, edits, pauses and clocks', () => {
  fc.assert(
    fc.property(stepsOfWatch, fc.constantFrom(10, 300), (steps, interval) => {
      const plain = {
        createdAt: start.getTime(),
        interval,
        confirm: 2,
        prefilter: true,
        zone: 'Europe/Berlin',
        schedule: null,
        callsPerDay: null,
        conditions: [
          {
            id: 'person',
            text: 'A person',
            toOpen: 2,
            considered: 3,
            toClose: 3,
            closeAfter: 0,
            cooldown: 0,
            remind: null,
          },
        ],
      };
      live(liveWatch(plain), steps);
    }),
    { numRuns: 300 },
  );
});
