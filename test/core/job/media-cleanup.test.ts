import { beforeEach, describe, expect, test } from 'vitest';
import { TransientError } from '../../../core/errors.ts';
import { VisionError } from '../../../core/vision-errors.ts';
import { createDigest, createMonitor } from '../../support/create-jobs.ts';
import { getJob, readLastFrame, readEventImage } from '../../../core/job/read-jobs.ts';
import type { WorkflowState } from '../../../core/records/workflow.ts';
import { createWorld, digestRequest, monitorRequest, type World } from '../../support/world.ts';

let world: World;
beforeEach(() => {
  world = createWorld();
});

const withClips = (count: number) => {
  world.script.captures.push(...Array.from({ length: count }, () => ({ clip: new Uint8Array([1]) })));
};
const watch = async (fields: Record<string, unknown> = {}) => {
  const job = await createMonitor(monitorRequest(fields), 'harbour', world.c);
  return { jobId: job.run_id, step: await world.begin({ run_id: job.run_id, generation: 0 }) };
};
const ticks = async (count: number, from: WorkflowState) => {
  let step = from;
  for (let tick = 0; tick < count; tick += 1) step = await world.tick(step);
  return step;
};
const newest = async (jobId: string) =>
  (await world.c.jobs.get(jobId, world.clock.now))?.sight.last_frame?.key;
const kept = () => [...world.pictures.keys()];

describe('frames of a monitor', () => {
  test('only the newest frame of a monitor stays, judged or skipped', async () => {
    withClips(6);
    world.script.moved.push(true, false, false, true, true, true);
    const { jobId, step } = await watch();
    await ticks(6, step);
    expect(kept()).toEqual([await newest(jobId)]);
  });

  test('the evidence of an alert stays with it', async () => {
    world.script.verdicts.push(true, false, false, true);
    const { jobId, step } = await watch({ trigger_cooldown_seconds: 0, max_triggers: null });
    await ticks(5, step);
    const alerts = (await world.c.jobs.events(jobId, 0, 100, new Date(0))).filter(
      ({ type }) => type === 'watch_triggered',
    );
    expect(alerts).toHaveLength(2);
    for (const { sequence } of alerts)
      expect(await readEventImage(jobId, 'harbour', sequence, world.c)).toBeDefined();
    expect(world.pictures.size).toBe(3);
  });

  test('one that the model gave no verdict for goes like the others', async () => {
    withClips(2);
    world.script.verdicts.push(new VisionError('Throttled.'), false);
    const { jobId, step } = await watch();
    await ticks(2, step);
    expect(kept()).toEqual([await newest(jobId)]);
  });

  test('the newest stays while nothing can be captured, and after the end', async () => {
    const { jobId, step } = await watch();
    world.script.captures.push({}, new TransientError('The disk is full'));
    await ticks(2, step);
    expect(kept()).toEqual([await newest(jobId)]);
    expect((await getJob(jobId, 'harbour', world.c)).job.sight.last_frame?.evidence).toBe(false);
  });

  test('the newest is found by who asks while a tick replaces it', async () => {
    const { jobId, step } = await watch();
    const next = await ticks(1, step);
    const { get } = world.c.media;
    let replaced = false;
    const slowly = async (key: string) => {
      if (!replaced) await ticks(1, next);
      replaced = true;
      return get(key);
    };
    const c = { ...world.c, media: { ...world.c.media, get: slowly } };
    expect(await readLastFrame(jobId, 'harbour', c)).toBeDefined();
    world.pictures.clear();
    expect(await readLastFrame(jobId, 'harbour', c)).toBeUndefined();
  });

  test('those that cannot be removed cost nothing but a warning', async () => {
    const { jobId, step } = await watch();
    world.c.media.remove = () => Promise.reject(new TransientError('The bucket is busy'));
    await ticks(3, step);
    expect((await world.c.jobs.get(jobId, world.clock.now))?.last_tick).toBe(3);
    expect(world.logged.filter((line) => line.includes('Media not removed'))).toHaveLength(2);
  });
});

describe('samples of a digest', () => {
  test('the samples of a digest stay until their window closes, and its grid stays afterwards', async () => {
    const fields = { window_minutes: 1, capture_interval_seconds: 20, include_frames: true, max_windows: 1 };
    const job = await createDigest(digestRequest(fields), 'harbour', world.c);
    const step = await ticks(3, await world.begin({ run_id: job.run_id, generation: 0 }));
    expect(world.pictures.size).toBe(3);
    await ticks(1, step);
    expect(kept().filter((key) => key.includes('/window-'))).toHaveLength(1);
    expect(kept().filter((key) => !key.includes('/window-'))).toEqual([await newest(job.run_id)]);
  });

  test('one that was no sample goes with the next', async () => {
    world.script.moved.push(true, false, false, true);
    const job = await createDigest(
      digestRequest({ window_minutes: 5, capture_interval_seconds: 20 }),
      'harbour',
      world.c,
    );
    await ticks(4, await world.begin({ run_id: job.run_id, generation: 0 }));
    expect(world.pictures.size).toBe(2);
  });
});
