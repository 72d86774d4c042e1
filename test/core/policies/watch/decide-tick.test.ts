import { describe, expect, test } from 'vitest';
import { noUse } from '../../../../core/records/caller.ts';
import { changeWatch } from '../../../../core/policies/watch/change.ts';
import { createWatchRun } from '../../../../core/policies/watch/initial-state.ts';
import type { WatchOutcome } from '../../../../core/policies/watch/outcome.ts';
import { screenWatchCapture } from '../../../../core/policies/watch/questions.ts';
import { decideWatchTick } from '../../../../core/policies/watch/decide-tick.ts';
import type { Schedule, WatchConfig } from '../../../../core/records/watch.ts';
import type { CaptureResult } from '../../../../core/records/workflow.ts';
import { newCondition, newWatch, newWatchConfig } from '../../../support/watches/watch-records.ts';

const begin = new Date('2026-03-02T12:00:00.000Z');
const after = (seconds: number) => new Date(begin.getTime() + seconds * 1000);
const hour = 3600;
const need = { calls: 1, micro_usd: 0 };
const alertId = '00000000-0000-4000-8000-000000000009';

type Verdict = boolean | 'unsure' | 'failed';

/** Runs ticks of a watch with one condition, each a judged capture unless another outcome is given. */
function runWatch(fields: Partial<WatchConfig> = {}, phase: number | null = null) {
  const config = newWatchConfig({ schedule: null, budget: null, regions: null, destinations: [], ...fields });
  let watch = createWatchRun({ ...newWatch({ config }), stream_phase: phase }, begin);
  const events: { at: number; type: string; data: Record<string, unknown> }[] = [];
  const sums = { watched_ms: 0, gap_ms: 0 };
  const add = (decision: ReturnType<typeof changeWatch>, seconds: number) => {
    watch = { ...watch, ...decision.set };
    for (const { type, data } of decision.events)
      if (type !== 'progress') events.push({ at: seconds, type, data });
    for (const { counts } of decision.hours) {
      sums.watched_ms += counts.watched_ms ?? 0;
      sums.gap_ms += counts.gap_ms ?? 0;
    }
  };
  const decide = (seconds: number, seen: WatchOutcome, stretch = 1) => {
    const { budget } = watch.state;
    const reserved = budget?.reserved ? { ...budget.reserved, day: budget.day } : undefined;
    const { next, ...decision } = decideWatchTick(
      watch,
      { outcome: seen.kind === 'judged' ? { ...seen, reserved } : seen, need, stretch },
      after(seconds),
      () => alertId,
    );
    add({ ...decision, set: { ...decision.set, next, last_tick: watch.last_tick + 1 } }, seconds);
    return next;
  };
  return {
    decide,
    judge: (seconds: number, verdict: Verdict, stretch?: number) =>
      decide(seconds, judged(seconds, verdict), stretch),
    /** Takes a capture without motion. Returns true if the model was asked. */
    still: (seconds: number, verdict: Verdict): boolean => {
      const screening = screenWatchCapture(watch, captured(seconds, false), after(seconds));
      decide(seconds, screening.kind === 'fresh' ? judged(seconds, verdict) : screening);
      return screening.kind === 'fresh';
    },
    edit: (seconds: number, config: Partial<WatchConfig>) => {
      const changed = { ...watch.config, ...config };
      add(changeWatch(watch, { config: changed, isOtherStream: false }, after(seconds)), seconds);
      watch = { ...watch, config: changed };
    },
    reserve: () => {
      const { version, state } = watch;
      const budget = state.budget && { ...state.budget, reserved: { version, ...need } };
      watch = { ...watch, state: { ...state, budget } };
    },
    reports: () => events.map(({ at, type, data }) => [at, type, data['reason']]),
    find: (type: string) => events.find((event) => event.type === type),
    coverage: () => ({ watched: sums.watched_ms / 1000, gap: sums.gap_ms / 1000 }),
  };
}

function captured(seconds: number, moved = true): Extract<CaptureResult, { kind: 'captured' }> {
  const at = after(seconds).toISOString();
  const position = { segment: null, segment_seconds: 0 };
  return {
    kind: 'captured',
    frame_key: `captures/source/${seconds}.jpg`,
    clip_key: null,
    captured_at: at,
    seen: { position, since: at, identical_since: null, seen_at: at },
    repeated: false,
    moved,
    changed_share: 0.1,
    black: false,
    motion_if_judged: '',
    motion_if_skipped: '',
  };
}

function judged(seconds: number, verdict: Verdict): WatchOutcome {
  const explanation = verdict === true ? 'A person stands at the gate.' : 'Nobody is at the gate.';
  const failure =
    verdict === 'failed' ? { code: 'VLM_ERROR', message: 'Refused', remediation: 'Wait.' } : null;
  return {
    kind: 'judged',
    captured: captured(seconds),
    busy: false,
    earlier: [],
    failure,
    used: { ...noUse, model_calls: 1, input_tokens: 1, output_tokens: 1 },
    answers: [
      {
        condition_id: 'person',
        condition: 'A person is at the gate',
        leftOut: false,
        joint: true,
        verdict: typeof verdict === 'boolean' ? { triggered: verdict, explanation } : null,
        ...(verdict === 'unsure' && { unjudgedReason: 'Too dark.' }),
      },
    ],
  };
}

describe('tick of a watch', () => {
  test('an opening that a cooldown held back comes with a verdict that holds, with its explanation and frame', () => {
    const condition = newCondition({ cooldown_seconds: 60, checks_to_close: 1 });
    const watch = runWatch({ conditions: [condition] });
    for (const [at, verdict] of [
      [0, true],
      [10, true],
      [20, false],
      [50, true],
      [60, true],
      [70, false],
      [80, true],
    ] as const)
      watch.judge(at, verdict);
    expect(watch.reports()).toEqual([
      [10, 'alert_opened', undefined],
      [20, 'alert_closed', 'cleared'],
      [80, 'alert_opened', undefined],
    ]);
    expect(watch.find('alert_opened')?.data['explanation']).toBe('A person stands at the gate.');
  });

  describe('an alert with close_after_seconds', () => {
    /** Opens at 10 s; the last of the three verdicts that do not hold is at 40 s. */
    const open = (remind: number | null = null) => {
      const condition = newCondition({ close_after_seconds: 90, remind_seconds: remind });
      const watch = runWatch({ conditions: [condition] });
      for (const at of [0, 10]) watch.judge(at, true);
      for (const at of [20, 30, 40]) watch.judge(at, false);
      return watch;
    };

    test('it is one alert if the condition holds again before that time, and closes that time after it', () => {
      const watch = open();
      watch.judge(50, true);
      for (let at = 60; at <= 150; at += 10) watch.judge(at, false);
      expect(watch.reports()).toEqual([
        [10, 'alert_opened', undefined],
        [140, 'alert_closed', 'cleared'],
      ]);
    });

    test('it closes by the grid while nothing moves, without a check and without a reminder', () => {
      const watch = open(60);
      const checks = [50, 60, 70, 80, 90, 100].map((at) => watch.still(at, false));
      expect(checks).not.toContain(true);
      expect(watch.reports()).toEqual([
        [10, 'alert_opened', undefined],
        [100, 'alert_closed', 'cleared'],
      ]);
    });

    test('it stays open while nothing is seen, and closes with the first sight', () => {
      const watch = open();
      for (let at = 50; at <= 120; at += 10) watch.decide(at, { kind: 'unavailable', message: 'Refused' });
      expect(watch.reports().map(([, type]) => type)).toEqual(['alert_opened']);
      watch.still(130, false);
      expect(watch.reports().at(-1)).toEqual([130, 'alert_closed', 'cleared']);
    });

    test('it stays open while nothing moves after answers without a verdict: nobody knows what the still picture shows', () => {
      const watch = open();
      for (const at of [50, 60, 70]) watch.judge(at, 'unsure');
      expect([80, 90, 100, 110].map((at) => watch.still(at, 'unsure'))).not.toContain(true);
      expect(watch.find('alert_closed')).toBeUndefined();
      watch.judge(120, false);
      expect(watch.reports().at(-1)).toEqual([120, 'alert_closed', 'cleared']);
    });

    test('it needs its verdicts as well: the first one that does not hold closes nothing', () => {
      const condition = newCondition({ close_after_seconds: 60 });
      const watch = runWatch({ conditions: [condition] });
      for (const at of [0, 10]) watch.judge(at, true);
      for (const at of [80, 90]) watch.judge(at, false);
      expect(watch.find('alert_closed')).toBeUndefined();
      watch.judge(100, false);
      expect(watch.reports().at(-1)).toEqual([100, 'alert_closed', 'cleared']);
    });
  });

  test('the pre-filter does not delay an opening whose cooldown is over', () => {
    const condition = newCondition({ cooldown_seconds: 60, checks_to_close: 1 });
    const watch = runWatch({ conditions: [condition] });
    for (const [at, verdict] of [
      [0, true],
      [10, true],
      [20, false],
      [30, true],
      [40, true],
    ] as const)
      watch.judge(at, verdict);
    expect([50, 60, 70].map((at) => watch.still(at, true))).toEqual([false, false, true]);
    expect(watch.reports().at(-1)).toEqual([70, 'alert_opened', undefined]);
  });

  test.each(['unsure', false] as const)(
    'an hour of a still picture takes one check in seven, with the verdict %s',
    (verdict) => {
      const watch = runWatch();
      let calls = 0;
      for (let at = 0; at < hour; at += 10) if (watch.still(at, verdict)) calls += 1;
      expect(calls).toBeLessThanOrEqual(54);
      expect(calls).toBeGreaterThanOrEqual(52);
    },
  );

  test('a failing model is asked at each capture, however often it has failed', () => {
    const watch = runWatch();
    const asked = Array.from({ length: 30 }, (_, index) => watch.still(index * 10, 'failed'));
    expect(asked).not.toContain(false);
  });

  test('a raised budget warns again at its own 80 %', () => {
    const perDay = (calls: number) => ({ budget: { model_calls_per_day: calls, usd_per_day: null } });
    const watch = runWatch(perDay(10));
    const judge = (at: number) => {
      watch.reserve();
      watch.judge(at, false);
    };
    for (let call = 0; call < 9; call += 1) judge(call * 10);
    watch.edit(95, perDay(100));
    for (let call = 10; call < 100; call += 1) judge(call * 10);
    const warnings = watch.reports().filter(([, , reason]) => reason === 'budget_warning');
    expect(warnings.map(([at]) => at)).toEqual([70, 800]);
  });

  test('a model that has failed for five minutes is reported, and so is its next answer', () => {
    const watch = runWatch();
    for (let at = 0; at <= 400; at += 10) watch.judge(at, 'failed');
    watch.judge(410, false);
    for (let at = 420; at <= 700; at += 10) watch.judge(at, 'failed');
    expect(watch.reports()).toEqual([
      [300, 'watch_changed', 'model_failed'],
      [410, 'watch_changed', 'model_recovered'],
    ]);
    expect(watch.find('watch_changed')?.data).toMatchObject({ error: 'Refused', status: 'active' });
  });
});

test('a model that is too busy to be called has not recovered', () => {
  const watch = runWatch();
  for (let at = 0; at <= 300; at += 10) watch.judge(at, 'failed');
  const failed = judged(310, 'failed');
  if (failed.kind !== 'judged') throw new Error('The outcome has answers');
  watch.decide(310, { ...failed, failure: null, busy: true, used: noUse });
  expect(watch.reports()).toEqual([[300, 'watch_changed', 'model_failed']]);
  watch.judge(320, false);
  expect(watch.reports().at(-1)).toEqual([320, 'watch_changed', 'model_recovered']);
});

test('the URL of a stream that failed is resolved again after a tick without a capture too', () => {
  const watch = runWatch();
  const failure = {
    kind: 'capture_failed',
    code: 'STREAM_FETCH_FAILED',
    message: '',
    remediation: '',
  } as const;
  expect(watch.decide(0, { ...failure, accessRefused: false }).resolve_again).toBe(true);
  expect(watch.decide(10, { kind: 'no_capture' }).resolve_again).toBe(true);
  expect(watch.judge(20, false).resolve_again).toBe(false);
});

test('the next check is an interval away at most, and on the phase of its grid if it confirms nothing', () => {
  for (let phase = 0; phase < 10_000; phase += 700) {
    const watch = runWatch({ confirm_seconds: 5 }, phase);
    let at = 0;
    for (const verdict of [false, true, false, false, false, false]) {
      const { wait_until: wakeUp, confirming } = watch.judge(at, verdict);
      const next = (Date.parse(wakeUp) - begin.getTime()) / 1000;
      expect(Math.round((next - at) * 1000)).toBeLessThanOrEqual(10_000);
      if (!confirming) expect((Date.parse(wakeUp) - phase) % 10_000).toBeLessThan(1000);
      at = next;
    }
  }
});

describe('coverage of a watch', () => {
  const evening: Schedule = {
    time_zone: 'UTC',
    active: [{ days: ['mon'], from: '18:00', to: '22:00' }],
  };

  test('an overload that stretches the interval leaves gaps from the time when a check was due', () => {
    const watch = runWatch();
    for (let at = 0; at < hour; at += 48) watch.judge(at, false, 4.3);
    expect(watch.coverage()).toEqual({ watched: 74 * 10, gap: 74 * 38 });
  });

  test('an outage over the begin of a scheduled span is a gap of the span', () => {
    const watch = runWatch({ schedule: evening });
    watch.decide(0, { kind: 'no_capture' });
    const atHour = (clock: number) => (clock - 12) * hour;
    watch.decide(atHour(20), { kind: 'no_capture' });
    for (let at = atHour(20) + 10; at <= atHour(22); at += 10) watch.judge(at, false);
    expect(watch.coverage()).toEqual({ watched: 2 * hour - 10, gap: 2 * hour + 10 });
  });

  test('the time before a change counts under the schedule before it', () => {
    const watch = runWatch();
    for (let at = 0; at <= hour; at += 10) watch.judge(at, false);
    watch.edit(hour + 5, { schedule: evening });
    watch.decide(hour + 6, { kind: 'no_capture' });
    expect(watch.coverage()).toEqual({ watched: hour + 5, gap: 0 });
  });

  test('a frozen or black picture and an exhausted budget are gaps', () => {
    const still = (seconds: number, why: 'frozen' | 'black') =>
      ({ kind: 'skipped', why, captured: captured(seconds, false) }) as const;
    const watch = runWatch({ budget: { model_calls_per_day: 3, usd_per_day: null } });
    watch.judge(0, false);
    watch.judge(10, false);
    watch.decide(20, still(20, 'frozen'));
    watch.decide(30, still(30, 'black'));
    watch.judge(40, false);
    expect(watch.coverage()).toEqual({ watched: 10, gap: 30 });
    const nextDay = 12 * hour;
    watch.decide(50, { kind: 'not_asked', captured: captured(50), why: 'budget' });
    watch.decide(nextDay, { kind: 'no_capture' });
    watch.judge(nextDay + 10, false);
    expect(watch.coverage()).toEqual({ watched: 10, gap: nextDay });
  });

  test('the spans of the schedule after an exhausted budget are gaps, up to its renewal', () => {
    const spans = [12, 14, 16].map((from) => ({
      days: ['mon' as const],
      from: `${from}:00`,
      to: `${from + 1}:00`,
    }));
    const schedule: Schedule = { time_zone: 'UTC', active: spans };
    const watch = runWatch({ schedule, budget: { model_calls_per_day: 2, usd_per_day: null } });
    watch.judge(0, false);
    watch.judge(10, false);
    for (let at = hour; at <= 5 * hour; at += hour) watch.decide(at, { kind: 'no_capture' });
    expect(watch.coverage()).toEqual({ watched: 10, gap: 3 * hour - 10 });
  });

  test('a downtime of a week is counted whole, two days with each tick', () => {
    const watch = runWatch();
    const week = 7 * 86_400;
    for (let tick = 0; tick < 6; tick += 1) watch.judge(week + tick * 10, false);
    expect(watch.coverage()).toEqual({ watched: 20, gap: week + 30 });
  });
});
