import { expect, test } from 'vitest';
import { VisionError } from '../../../core/vision-errors.ts';
import { createWorld, monitorRequest, type World } from '../../support/world.ts';
import { createMonitor } from '../../support/create-jobs.ts';
import { compared, newScan } from '../../support/watches/scans.ts';
import { alertEvents, createWatch, run, world } from '../../support/watches/watch-world.ts';
import { judgingEach } from '../../support/scripted-model.ts';

/**
 * Scans from the position of each request: a visit from 12 to 18 s, with a key frame every 2 s. Returns the begins of
 * the scans.
 */
function scanVisit({ c, clock, script }: World): (number | null)[] {
  const begin = clock.now.getTime();
  const since: (number | null)[] = [];
  const { capture } = c.streams;
  c.streams.capture = async (request, ...rest) => {
    const captured = await capture(request, ...rest);
    const now = Math.round((clock.now.getTime() - begin) / 1000);
    const from = request.lookBack?.since ? Number(request.lookBack.since) : null;
    since.push(from);
    const times =
      from === null ? [] : Array.from({ length: (now - from) / 2 - 1 }, (_, index) => from + 2 + 2 * index);
    const frames = times.map((at) => ({
      before: now - at,
      shows: at >= 12 && at <= 18 ? ('visitor' as const) : ('quiet' as const),
    }));
    script.moved.push(true);
    script.earlier.push(frames.map(compared));
    return {
      ...captured,
      frame: new Uint8Array([255, 216, 0]),
      position: { ...captured.position, scan: String(now) },
      scan: newScan(captured.capturedAt, frames),
    };
  };
  return since;
}

const tokens = { input_tokens: 1, output_tokens: 1 };

test('a visit whose moments the model failed to judge is judged in the next scan, though the newest picture had its verdict', async () => {
  const begun = await createWatch();
  const since = scanVisit(world);
  let fails = false;
  world.c.vision.judge = judgingEach(async ({ frame }) => {
    const isMoment = (frame[2] ?? 0) > 0;
    if (fails && isMoment) throw new VisionError('down');
    return { triggered: isMoment, explanation: '', tokens };
  });
  const before = await run(begun, 2);
  fails = true;
  const failed = await run(before, 1);
  fails = false;
  await run(failed, 3);
  expect(since).toEqual([null, 0, 10, 10, 30, 40]);
  expect((await alertEvents()).filter(({ type }) => type === 'alert_opened')).toHaveLength(1);
});

test('a moment that was judged before a model failed does not count again in the scan that repeats it', async () => {
  const begun = await createWatch({ conditions: ['person', 'car'], toClose: 1 });
  const since = scanVisit(world);
  let fails = false;
  world.c.vision.judge = judgingEach(async ({ frame }, condition) => {
    const isMoment = (frame[2] ?? 0) > 0;
    if (fails && isMoment && condition.includes('car')) throw new VisionError('down');
    return { triggered: isMoment, explanation: '', tokens };
  });
  const before = await run(begun, 2);
  fails = true;
  const failed = await run(before, 1);
  fails = false;
  await run(failed, 3);
  expect(since.slice(0, 4)).toEqual([null, 0, 10, 10]);
  const opened = (await alertEvents()).filter(({ type }) => type === 'alert_opened');
  expect(opened.map(({ data }) => 'condition_id' in data && data.condition_id)).toEqual(['person', 'car']);
});

test('a monitor judges a visit in its next scan if the model failed for the moments, and counts the failure', async () => {
  const created = createWorld();
  const { c, clock } = created;
  const job = await createMonitor(monitorRequest({ look_back: true, input_mode: 'frames' }), 'harbour', c);
  const since = scanVisit(created);
  let fails = false;
  c.vision.judge = judgingEach(async ({ frame }) => {
    const isMoment = (frame[2] ?? 0) > 0;
    if (fails && isMoment) throw new VisionError('down');
    return { triggered: isMoment, explanation: '', tokens };
  });
  let step = await created.begin({ run_id: job.run_id, generation: 0 });
  for (let tick = 0; tick < 4; tick += 1) {
    fails = tick === 2;
    step = await created.tick(step);
  }
  expect(since).toEqual([null, 0, 10, 10]);
  const { counters } = (await c.jobs.get(job.run_id, clock.now)) ?? {};
  expect(counters).toMatchObject({ triggers_fired: 1, checks_missed: 1 });
});
