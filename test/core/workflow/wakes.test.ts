import { describe, expect, test } from 'vitest';
import { StreamFetchError } from '../../../core/errors.ts';
import type { FollowRequest } from '../../../core/records/capture.ts';
import type { WorkflowState } from '../../../core/records/workflow.ts';
import { addSeconds } from '../../../core/time.ts';
import { analyzeTask, captureTask } from '../../../core/workflow/tasks.ts';
import { awaitMotion } from '../../../core/workflow/await-motion.ts';
import { start } from '../../contract/records.ts';
import { createWatch, run, stored, watchId, world } from '../../support/watches/watch-world.ts';

async function createFollowed(options: Parameters<typeof createWatch>[0] = {}) {
  const begun = await createWatch(options);
  world.c.limits.wakesOnMotion = true;
  return begun;
}

/** Runs the next tick, which motion wakes so many seconds before its planned time. */
async function wakeBefore(step: WorkflowState, seconds: number): Promise<WorkflowState> {
  world.clock.now = addSeconds(new Date(step.wait_until), -seconds);
  const captured = await captureTask(step.capture, world.c);
  const input = {
    operation: 'analyze',
    run_id: watchId,
    generation: 0,
    capture: step.capture,
    captured: { ...captured, woken_at: world.clock.now.toISOString() },
  };
  const after = await analyzeTask(input, world.c);
  if (!('capture' in after)) throw new Error('The task closed the watch');
  return after;
}

describe('a check that motion causes', () => {
  test('a woken check is judged and counted like any other, and keeps the grid and the times of the watch', async () => {
    const clear = await run(await createFollowed(), 1);
    const before = await stored();
    world.script.verdicts.push(false);
    const after = await wakeBefore(clear, 6);
    expect(after.wait_until).toBe(clear.wait_until);
    const watch = await stored();
    expect(watch.last_tick).toBe(2);
    expect(watch.seen?.seen_at).toBe(world.clock.now.toISOString());
    expect(watch.sight.counted_until).toBe(world.clock.now.toISOString());
    const [first] = before.state.conditions;
    expect(watch.state.conditions).toMatchObject([
      { checked_at: [...first!.checked_at, world.clock.now.getTime() / 1000] },
    ]);
    const [hour] = await world.c.watches.hours(watchId, start, addSeconds(start, 3600));
    expect(hour?.counts).toMatchObject({ ticks: 2, checks: 2, model_calls: 2 });
    expect(Date.parse((await run(after, 1)).wait_until) - Date.parse(after.wait_until)).toBe(10_000);
  });

  test('a woken check opens an alert with its confirmation, and uses the budget', async () => {
    const budget = { model_calls_per_day: 10, usd_per_day: null };
    const clear = await run(await createFollowed({ budget }), 1);
    world.script.verdicts.push(true, true);
    const pending = await wakeBefore(clear, 6);
    expect(Date.parse(pending.wait_until) - world.clock.now.getTime()).toBe(2_000);
    await run(pending, 1);
    const { state } = await stored();
    expect(state.conditions).toMatchObject([{ phase: 'open' }]);
    expect(state.budget).toMatchObject({ calls: 3, reserved: null });
  });

  test('a woken check does not hide that the clock was set back during the wait', async () => {
    const clear = await run(await createFollowed(), 1);
    const { sight } = await stored();
    world.script.verdicts.push(false);
    world.clock.now = addSeconds(world.clock.now, -3600);
    await wakeBefore({ ...clear, wait_until: addSeconds(world.clock.now, 10).toISOString() }, 5);
    expect(Date.parse((await stored()).sight.counted_until!)).toBeLessThan(
      Date.parse(sight.counted_until!) - 3500_000,
    );
  });
});

describe('when motion may cause a check', () => {
  test('a watch waits for motion, and says whether its last capture was quiet', async () => {
    const first = await run(await createFollowed(), 1);
    expect(first.capture.wakes).toEqual({ quiet: false });
    world.script.moved.push(false);
    expect((await run(first, 1)).capture.wakes).toEqual({ quiet: true });
  });

  test('a host that only captures, an overload, a stream that fails, and a budget that is nearly used up exclude it', async () => {
    const onAws = await run(await createWatch(), 1);
    expect(onAws.capture).not.toHaveProperty('wakes');
    const step = await run(await createFollowed(), 1);
    world.c.pace = { ...world.c.pace, stretch: () => 1.5 };
    expect((await run(step, 1)).capture).not.toHaveProperty('wakes');
    world.c.pace = { ...world.c.pace, stretch: () => 1 };
    world.script.captures.push(new StreamFetchError('It is gone.'));
    expect((await run(step, 1)).capture).not.toHaveProperty('wakes');
    const budget = { model_calls_per_day: 10, usd_per_day: null };
    const seventh = await run(await createFollowed({ budget }), 7);
    expect(seventh.capture).toHaveProperty('wakes');
    expect((await run(seventh, 1)).capture).not.toHaveProperty('wakes');
  });
});

describe('the wait for motion', () => {
  type Frames = ('quiet' | 'moved')[];

  async function follow(
    frames: Frames,
    { quiet = false, url = 'rtsp://camera.example/', follows = false } = {},
  ) {
    await createWatch();
    const requests: FollowRequest[] = [];
    world.script.moved.push(...frames.map((frame) => frame === 'moved'));
    world.c.streams.follow = async (request, onFrame, signal) => {
      requests.push(request);
      for (let frame = 0; frame < frames.length && !signal.aborted; frame += 1) onFrame(new Uint8Array());
      signal.throwIfAborted();
    };
    const source = {
      source_id: watchId,
      caller: 'ada',
      url,
      input_mode: 'frames' as const,
      clip_duration_seconds: 3,
      follow: follows,
    };
    const runs = { source: async () => source };
    const position = { segment: '7', segment_seconds: 2 };
    const at = world.clock.now.toISOString();
    const capture = {
      source_id: watchId,
      tick: 2,
      closing: false,
      resolve_again: false,
      seen: { position, since: at, identical_since: null, seen_at: at },
      motion: 'reference',
      wakes: { quiet },
    };
    const moved = await awaitMotion(capture, { ...world.c, runs }, new AbortController().signal);
    return { moved, requests, left: world.script.moved.length };
  }

  test('it ends with the first key frame that differs after one that does not', async () => {
    expect(await follow(['moved', 'quiet', 'moved', 'moved'])).toMatchObject({ moved: true, left: 1 });
  });

  test('the wait after a quiet capture ends with the first key frame that differs', async () => {
    expect(await follow(['moved', 'quiet'], { quiet: true })).toMatchObject({ moved: true, left: 1 });
  });

  test('motion that has lasted since the check does not end it', async () => {
    expect(await follow(['moved', 'moved', 'moved'])).toMatchObject({ moved: false, left: 0 });
  });

  test('a playlist is followed only on request, after the segment of the check', async () => {
    const url = 'https://camera.example/live.m3u8';
    expect(await follow(['quiet', 'moved'], { url })).toMatchObject({ moved: false, requests: [] });
    const after = { segment: '7', segment_seconds: 2 };
    expect(await follow(['quiet', 'moved'], { url, follows: true })).toMatchObject({
      moved: true,
      requests: [{ url, caller: 'ada', after }],
    });
  });
});
