import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { settle, priceWorstCase, computeCost } from '../../../../core/policies/watch/budget.ts';
import { createWatchRun } from '../../../../core/policies/watch/initial-state.ts';
import { createWatchPolicy } from '../../../../core/policies/watch/policy.ts';
import type { WatchOutcome } from '../../../../core/policies/watch/outcome.ts';
import type { Budget } from '../../../../core/records/watch.ts';
import type { WatchRun } from '../../../../core/records/run.ts';
import type { Captured } from '../../../../core/sight/screening.ts';
import type { Judgement } from '../../../../core/tick/ask-model.ts';
import { newCondition, newWatch, newWatchConfig } from '../../../support/watches/watch-records.ts';

const begin = new Date('2026-03-01T12:00:00.000Z');
const modelPrice = { input: 0.06e-6, output: 0.24e-6 };
const shared = { judgedBy: 'pixel', createAlertId: () => 'alert', modelPrice };

function newRun(budget: Budget | null, mode: 'frames' | 'clip' = 'frames'): WatchRun {
  const conditions = [newCondition()];
  const config = newWatchConfig({ schedule: null, regions: null, conditions, budget, input_mode: mode });
  return createWatchRun(newWatch({ config }), begin);
}

function captured(earlier: number, black = false): Captured & { began_at: string } {
  const at = begin.toISOString();
  const moments = Array.from({ length: earlier }, (_, index) => ({
    frame_key: `frame-${index}`,
    captured_at: new Date(begin.getTime() - (earlier - index) * 2000).toISOString(),
    changed_share: 0.1,
  }));
  return {
    kind: 'captured',
    frame_key: 'newest',
    clip_key: null,
    captured_at: at,
    began_at: at,
    seen: {
      position: { segment: null, segment_seconds: 0 },
      since: at,
      identical_since: null,
      seen_at: at,
    },
    repeated: false,
    moved: true,
    changed_share: 0.1,
    black,
    ...(earlier > 0 && { moments }),
    motion_if_judged: '',
    motion_if_skipped: '',
  };
}

/**
 * Plans the check of a capture with earlier moments. Returns the moments that are asked about and the reservation, or
 * the reason for none.
 */
function plan(run: WatchRun, earlier: number, black = false) {
  const work = createWatchPolicy(shared).work(run, captured(earlier, black), begin);
  if (work.kind === 'seen') return work.seen.kind === 'not_asked' ? work.seen.why : work.seen.kind;
  const set = work.reservation?.set;
  const budget = set && 'state' in set ? (set as { state: WatchRun['state'] }).state.budget : null;
  return { asked: work.moments?.length ?? 0, reserved: budget?.reserved ?? null, work, budget };
}

const calls = (count: number): Budget => ({ model_calls_per_day: count, usd_per_day: null });
const dollars = (microUsd: number): Budget => ({ model_calls_per_day: null, usd_per_day: microUsd / 1e6 });
const oneFrame = priceWorstCase(modelPrice);

describe('the reservation of a check that looks back', () => {
  test.each(['frames', 'clip'] as const)(
    'each frame reserves a call, as a server may refuse several in one (%s)',
    (mode) => {
      expect(plan(newRun(calls(5), mode), 3)).toMatchObject({
        asked: 3,
        reserved: { calls: 4, micro_usd: 4 * oneFrame },
      });
    },
  );

  test.each([
    ['calls', calls(3)],
    ['dollars', dollars(4 * oneFrame - 1)],
  ])('a day with too few %s for all frames has the newest one checked', (_, budget) => {
    expect(plan(newRun(budget), 3)).toMatchObject({
      asked: 0,
      reserved: { calls: 1, micro_usd: oneFrame },
    });
  });

  test('a day that does not cover the newest frame has no check', () => {
    expect(plan(newRun(dollars(oneFrame - 1)), 3)).toBe('budget');
    expect(plan(newRun(dollars(oneFrame)), 0)).toMatchObject({ asked: 0 });
  });

  test('a black newest frame reserves nothing, and is skipped on a day that does not cover the moments before it', () => {
    expect(plan(newRun(calls(3), 'clip'), 3, true)).toMatchObject({
      asked: 3,
      reserved: { calls: 3, micro_usd: 3 * oneFrame },
    });
    expect(plan(newRun(calls(2)), 3, true)).toBe('skipped');
  });

  test('a watch without a budget has all frames checked and reserves nothing', () => {
    expect(plan(newRun(null), 3)).toMatchObject({ asked: 3, reserved: null });
  });

  test('the worst case of all conditions counts each group of conditions for each group of frames', () => {
    const questions = { joint: [newCondition()], separate: [newCondition(), newCondition()] };
    const asked = { earlier: 3, mode: 'frames' as const };
    expect(computeCost(questions, asked, shared).calls).toBe(12);
  });
});

describe('the use of a check that looks back', () => {
  const answered = (fields: Partial<Judgement>): Judgement => ({
    answers: [],
    earlier: [],
    failure: null,
    busy: false,
    calls: [],
    ...fields,
  });
  function readUse(judgement: Judgement) {
    const planned = plan(newRun(calls(5)), 3);
    if (typeof planned === 'string') throw new Error(planned);
    const seen: WatchOutcome = planned.work.judged(judgement);
    return seen.kind === 'judged' ? seen.used : expect.unreachable();
  }
  const earlier = [1, 2, 3].map((name) => ({
    frame_key: `${name}`,
    captured_at: begin.toISOString(),
    answers: [],
  }));

  test('the tokens of a call are its use, those of a failed one too, which costs nothing without', () => {
    const tokens = { input_tokens: 4000, output_tokens: 100 };
    const failedCall = { input_tokens: 0, output_tokens: 0, failed: true };
    expect(readUse(answered({ earlier, calls: [tokens] }))).toMatchObject({
      model_calls: 1,
      model_errors: 0,
      micro_usd: 264,
    });
    expect(readUse(answered({ earlier, calls: [failedCall] }))).toMatchObject({
      model_calls: 1,
      model_errors: 1,
      micro_usd: 0,
    });
    expect(readUse(answered({ earlier, calls: [tokens, { ...tokens, failed: true }] }))).toMatchObject({
      model_calls: 2,
      model_errors: 1,
      micro_usd: 528,
    });
  });
});

test('checks with any number of moments never use more than the day has, and none is omitted that it covers', () => {
  const tick = fc.record({ earlier: fc.nat(3), used: fc.double({ min: 0, max: 1, noNaN: true }) });
  fc.assert(
    fc.property(
      fc.array(tick, { minLength: 1, maxLength: 30 }),
      fc.oneof(fc.nat(40).map(calls), fc.nat(20 * oneFrame).map(dollars)),
      (ticks, budget) => {
        let run = newRun(budget);
        const maxCalls = budget.model_calls_per_day ?? Infinity;
        const maxMicroUsd = Math.round((budget.usd_per_day ?? Infinity) * 1e6);
        for (const { earlier, used } of ticks) {
          const before = run.state.budget ?? { calls: 0, micro_usd: 0 };
          const planned = plan(run, earlier);
          if (planned === 'budget') {
            expect(
              before.calls + 1 > maxCalls || before.micro_usd + oneFrame > maxMicroUsd,
              'the newest frame would have fitted',
            ).toBe(true);
            continue;
          }
          if (typeof planned === 'string') return expect.unreachable(planned);
          const { reserved, budget: state } = planned;
          if (!reserved || !state) return expect.unreachable('nothing is reserved');
          const micro_usd = Math.floor(used * reserved.micro_usd);
          const cost = { model_calls: reserved.calls, micro_usd, unpriced_calls: 0 };
          const settled = settle(state, cost, { ...reserved, day: state.day });
          expect(settled.calls).toBeLessThanOrEqual(maxCalls);
          expect(before.micro_usd + reserved.micro_usd).toBeLessThanOrEqual(maxMicroUsd);
          run = { ...run, last_tick: run.last_tick + 1, state: { ...run.state, budget: settled } };
        }
      },
    ),
    { numRuns: 300 },
  );
});
