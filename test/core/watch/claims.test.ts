import { expect, test } from 'vitest';
import { StreamFetchError } from '../../../core/errors.ts';
import { VisionError } from '../../../core/vision-errors.ts';
import { isAllWell } from '../../../core/policies/watch/health.ts';
import { readHour } from '../../../core/sight/spans.ts';
import { presentWatch } from '../../../core/watch/present-watch.ts';
import { readWatchStats } from '../../../core/watch/watch-stats.ts';
import { addSeconds } from '../../../core/time.ts';
import { start } from '../../contract/records.ts';
import { compared, newScan } from '../../support/watches/scans.ts';
import { createWatch, stored, watchId, world } from '../../support/watches/watch-world.ts';
import { judgingEach } from '../../support/scripted-model.ts';

/** Times at which the model gave a verdict, or a scan found no motion, by condition. */
type Facts = { mode: string; seenAt: Map<string, Date>; motion: Date[] };

const conditions = ['person', 'car'];

/**
 * Runs random captures: gone streams, failing and unsure models, scans, pictures without one. Returns what was true.
 */
async function runRandomly(seed: number, check: (facts: Facts) => Promise<void>): Promise<void> {
  let state = seed;
  const random = (below: number) => (state = (state * 48_271) % 2_147_483_647) % below;
  const facts: Facts = { mode: 'fine', seenAt: new Map(), motion: [] };
  const budget = { model_calls_per_day: 250, usd_per_day: null };
  let step = await createWatch({ conditions, budget: seed % 2 === 0 ? budget : null });
  const { c, script, clock } = world;
  const { capture } = c.streams;
  let until = 0;
  let newest = start;
  let carUnsure = false;
  c.vision.judge = judgingEach(async (_media, condition) => {
    if (facts.mode === 'model') throw new VisionError('down');
    const isUnsure = carUnsure && condition.includes('car');
    if (!isUnsure) facts.seenAt.set(condition.split(' ')[1] ?? '', clock.now);
    const tokens = { input_tokens: 1, output_tokens: 1 };
    return { triggered: random(5) === 0, explanation: '', tokens, ...(isUnsure && { judged: false }) };
  });
  for (let count = 0; count < 250; count += 1) {
    if (step.done) step = await world.begin({ run_id: watchId, generation: (await stored()).generation });
    if (count >= until) {
      facts.mode = ['fine', 'fine', 'gone', 'model', 'plain'][random(5)] ?? 'fine';
      carUnsure = random(3) === 0;
      until = count + 1 + random(90);
    }
    // Frames since the capture before.
    const elapsed = Math.max(0, (Date.parse(step.wait_until) - newest.getTime()) / 1000);
    const frames = [10, 8, 6, 4, 2]
      .filter((before) => before < elapsed)
      .map((before) => ({
        before,
        shows: random(12) === 0 ? ('visitor' as const) : ('quiet' as const),
      }));
    const moved = random(12) === 0;
    c.streams.capture = async (...given) => {
      if (facts.mode === 'gone') throw new StreamFetchError('gone');
      script.moved.push(moved);
      script.earlier.push(facts.mode === 'plain' ? [] : frames.map(compared));
      const captured = await capture(...given);
      const shown = frames.filter(({ shows }) => shows === 'visitor');
      newest = captured.capturedAt;
      facts.motion.push(...shown.map(({ before }) => addSeconds(captured.capturedAt, -before)));
      if (moved) facts.motion.push(captured.capturedAt);
      const scan = newScan(captured.capturedAt, frames, { coveredSeconds: Math.min(elapsed, 10) });
      return facts.mode === 'plain' ? captured : { ...captured, scan };
    };
    step = await world.tick(step);
    await check(facts);
  }
}

test.each([1, 2, 3, 4])('no statement of a watch claims what another one denies (seed %i)', async (seed) => {
  await runRandomly(seed, async ({ mode }) => {
    const { clock } = world;
    const watch = await stored();
    const states = presentWatch(watch, clock.now).state.conditions;
    if (isAllWell(watch, '')) {
      expect([mode, watch.sight.in_gap]).not.toEqual(['gone', null]);
      expect(states.filter(({ unjudged }) => unjudged)).toEqual([]);
    }
    const silent = presentWatch(watch, addSeconds(clock.now, 601)).state.conditions;
    expect(silent.filter(({ state }) => state === 'clear')).toEqual([]);
  });
  const { clock, c } = world;
  const { total } = await readWatchStats({ watchId, from: undefined, to: undefined }, 'caller', c);
  const { judged_seconds: judged, quiet_seconds: quiet, between_seconds: between } = total;
  const active = judged + quiet + between + total.not_seen_seconds;
  expect(judged + quiet + between).toBeCloseTo((total.coverage ?? 0) * active, 0);
  expect(Math.abs(active - (clock.now.getTime() - start.getTime()) / 1000)).toBeLessThan(1000);
});

test.each([5, 6, 7, 8])(
  'quiet time has no motion, and a condition that is clear was seen (seed %i)',
  async (seed) => {
    let known: Facts | undefined;
    await runRandomly(seed, async (facts) => {
      known = facts;
      const { conditions: states } = presentWatch(await stored(), world.clock.now).state;
      for (const { condition_id: id, state } of states)
        if (state === 'clear') expect(facts.seenAt.has(id)).toBe(true);
    });
    const hours = await world.c.watches.hours(watchId, start, addSeconds(world.clock.now, 1));
    const quiet = hours
      .flatMap(({ hour, seen }) => readHour(new Date(hour), seen))
      .filter((span) => span.class === 'quiet');
    for (const at of known?.motion ?? [])
      expect(quiet.filter(({ from, to }) => from < at && at < to)).toEqual([]);
  },
);
