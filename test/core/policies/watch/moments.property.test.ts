import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { noUse } from '../../../../core/records/caller.ts';
import { listDatapoints } from '../../../../core/policies/watch/datapoints.ts';
import { createWatchRun, initialConditionState } from '../../../../core/policies/watch/initial-state.ts';
import type { WatchOutcome } from '../../../../core/policies/watch/outcome.ts';
import { decideWatchTick } from '../../../../core/policies/watch/decide-tick.ts';
import type { ConditionAnswer } from '../../../../core/tick/ask-model.ts';
import { addSeconds } from '../../../../core/time.ts';
import { newCondition, newWatch, newWatchConfig } from '../../../support/watches/watch-records.ts';
import { captured } from '../../../support/watching.ts';

const begin = new Date('2026-03-02T12:00:00.000Z');
const rule = newCondition({ condition_id: 'person', condition: 'a person' });

/** Frames of a capture: seconds before the newest one, and the verdict; `quiet` is not judged. */
type Frame = { before: number; verdict: boolean | 'quiet' | 'none' };

function answer(triggered: boolean | 'none'): ConditionAnswer[] {
  const verdict = triggered === 'none' ? null : { triggered, explanation: `${triggered}` };
  return [{ condition_id: 'person', condition: 'a person', verdict, leftOut: false, joint: true }];
}

/** Returns the outcome of a capture whose stream is `lagSeconds` behind the clock of this service. */
function judged(at: Date, frames: readonly Frame[], newest: boolean | 'none', lagSeconds = 30): WatchOutcome {
  const stream = (before: number) => addSeconds(at, -before - lagSeconds).toISOString();
  const moments = frames.flatMap(({ before, verdict }, index) =>
    verdict === 'quiet'
      ? []
      : [{ frame_key: `captures/1/${index}.jpg`, captured_at: stream(before), answers: answer(verdict) }],
  );
  const quiet = frames.flatMap(({ before, verdict }) => (verdict === 'quiet' ? [stream(before)] : []));
  const scan = {
    frames: frames.length,
    covered_seconds: 10,
    left_out_seconds: 0,
    distance_seconds: 1,
    quiet,
  };
  return {
    kind: 'judged',
    captured: captured({ captured_at: stream(0), scan }, at),
    answers: answer(newest),
    earlier: moments,
    failure: null,
    busy: false,
    used: { ...noUse, model_calls: 1, input_tokens: 1, output_tokens: 1 },
  };
}

function list(frames: readonly Frame[], newest: boolean | 'none'): [before: number, holds: boolean][] {
  const state = initialConditionState('person', begin);
  const at = addSeconds(begin, 60);
  return listDatapoints(judged(at, frames, newest), rule, state, at).map((point) => [
    (at.getTime() - point.at.getTime()) / 1000,
    point.verdict?.triggered ?? false,
  ]);
}

describe('the datapoints of a capture', () => {
  test('verdicts that hold count only two seconds after the one that counted before', () => {
    const frames = [6, 5, 4, 1].map((before) => ({ before, verdict: true as const }));
    expect(list(frames, true)).toEqual([
      [6, true],
      [4, true],
      [1, true],
    ]);
  });

  test('frames like the newest count as clear only after a moment that was judged clear, and if the newest is', () => {
    const frames: Frame[] = [
      { before: 8, verdict: 'quiet' },
      { before: 6, verdict: false },
      { before: 4, verdict: 'quiet' },
      { before: 2, verdict: true },
      { before: 1, verdict: 'quiet' },
    ];
    expect(list(frames, false)).toEqual([
      [6, false],
      [4, false],
      [2, true],
      [1, false],
      [0, false],
    ]);
    expect(list(frames, true).map(([before]) => before)).toEqual([6, 2, 0]);
    expect(list(frames, 'none').map(([before]) => before)).toEqual([6, 2]);
  });

  test('an answer about an older text of the condition is no datapoint', () => {
    const at = addSeconds(begin, 60);
    const outcome = judged(at, [{ before: 4, verdict: true }], true);
    const changed = { ...rule, condition: 'a car' };
    expect(listDatapoints(outcome, changed, initialConditionState('person', begin), at)).toEqual([]);
  });
});

const frame = fc.record({
  before: fc.integer({ min: 1, max: 70_000 }).map((ms) => ms / 1000),
  verdict: fc.constantFrom<Frame['verdict']>(true, true, false, 'none', 'quiet'),
});
const ticks = fc.array(
  fc.record({
    frames: fc
      .array(frame, { maxLength: 8 })
      .map((frames) => frames.toSorted((one, other) => other.before - one.before)),
    newest: fc.constantFrom<boolean | 'none'>(true, false, false, 'none'),
    gapSeconds: fc.integer({ min: 1, max: 90 }),
    modelSeconds: fc.integer({ min: 0, max: 40 }),
  }),
  { maxLength: 12 },
);

describe('a watch that looks back', () => {
  test('random captures keep the order of times, and open and close each alert once', () => {
    const numbers = fc.integer({ min: 1, max: 3 });
    fc.assert(
      fc.property(ticks, numbers, numbers, fc.constantFrom(0, 30), (captures, toOpen, toClose, cooldown) => {
        const condition = {
          ...rule,
          checks_to_open: toOpen,
          checks_considered: 3,
          checks_to_close: toClose,
          cooldown_seconds: cooldown,
        };
        const config = newWatchConfig({ schedule: null, budget: null, regions: null, destinations: [] });
        let watch = createWatchRun(newWatch({ config: { ...config, conditions: [condition] } }), begin);
        let now = begin;
        const openedAt: number[] = [];
        const open = new Set<string>();
        for (const { frames, newest, gapSeconds, modelSeconds } of captures) {
          const at = addSeconds(now, gapSeconds);
          now = addSeconds(at, modelSeconds);
          const outcome = judged(at, frames, newest);
          const need = { calls: 1, micro_usd: 0 };
          const tick = decideWatchTick(
            watch,
            { outcome, need, at },
            now,
            (_, id, opening) => `${id} ${opening}`,
          );
          const [before] = watch.state.conditions;
          const [state] = tick.set.state.conditions;
          const times = state?.checked_at ?? [];
          expect(times).toEqual(times.toSorted((one, other) => one - other));
          expect(times.every((time) => time <= at.getTime() / 1000)).toBe(true);
          expect((state?.phase === 'open') === (state?.alert !== null)).toBe(true);
          const opened = tick.events.flatMap((event) => (event.type === 'alert_opened' ? event.data : []));
          const closed = tick.events.flatMap((event) => (event.type === 'alert_closed' ? event.data : []));
          expect(opened.length).toBeLessThanOrEqual(1);
          for (const data of opened) {
            const time = Date.parse(data.opened_at);
            expect(time).toBeLessThanOrEqual(at.getTime());
            expect(time - (openedAt.at(-1) ?? 0)).toBeGreaterThanOrEqual(cooldown * 1000);
            openedAt.push(time);
            expect(data.ended ?? false).toBe(closed.some(({ alert_id: id }) => id === data.alert_id));
          }
          for (const { closed_at, opened_at } of closed) expect(closed_at >= opened_at).toBe(true);
          for (const change of tick.alerts) {
            if (change.kind !== 'open') expect(open.delete(change.alertId)).toBe(true);
            else if (change.alert.closed === null) open.add(change.alert.alert_id);
          }
          expect([...open]).toEqual(state?.alert ? [state.alert.alert_id] : []);
          const ids = tick.alerts.map((change) =>
            change.kind === 'open' ? change.alert.alert_id : change.alertId,
          );
          expect(new Set(ids).size).toBe(ids.length);
          expect(tick.set.state.openings).toBe(watch.state.openings + opened.length);
          // A tick with one frame is decided as before.
          if (frames.length === 0 && newest === 'none') expect(state?.history).toBe(before?.history);
          watch = { ...watch, ...tick.set, next: tick.next, last_tick: watch.last_tick + 1 };
        }
      }),
      { numRuns: 300 },
    );
  });
});
