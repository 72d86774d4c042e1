import { beforeEach, expect, test } from 'vitest';
import { createMonitor } from '../../support/create-jobs.ts';
import { VisionError } from '../../../core/vision-errors.ts';
import { addSeconds } from '../../../core/time.ts';
import { compared, newScan } from '../../support/watches/scans.ts';
import { createWorld, monitorRequest, type World } from '../../support/world.ts';

let world: World;
beforeEach(() => {
  world = createWorld();
});

/**
 * Starts a monitor, and runs a tick without a visit and one whose scan finds visitors these seconds before its newest
 * frame.
 */
async function play(fields: Record<string, unknown>, seconds: number[], verdicts: (boolean | Error)[]) {
  const job = await createMonitor(monitorRequest({ look_back: true, ...fields }), 'harbour', world.c);
  world.script.verdicts.push(false);
  const step = await world.tick(await world.begin({ run_id: job.run_id, generation: 0 }));
  const { capture } = world.c.streams;
  const frames = seconds.map((before) => ({ before, shows: 'visitor' as const }));
  world.c.streams.capture = async (...args) => {
    const captured = await capture(...args);
    return { ...captured, scan: newScan(captured.capturedAt, frames) };
  };
  world.script.earlier.push(frames.map(compared));
  world.script.verdicts.push(...verdicts);
  await world.tick(step);
  const events = await world.jobs.events(job.run_id, 0, 100, world.clock.now);
  const stored = await world.jobs.get(job.run_id, world.clock.now);
  return {
    job: stored!,
    triggers: events.flatMap(({ type, data }) => (type === 'watch_triggered' ? [data] : [])),
    progress: events.flatMap(({ type, data }) => (type === 'progress' ? [data] : [])),
  };
}

const ago = (seconds: number) => addSeconds(world.clock.now, -seconds).toISOString();

test('each moment that holds fires in time order, with its own picture, which is kept', async () => {
  const { triggers, progress, job } = await play(
    { max_triggers: null },
    [9, 5, 2],
    [true, false, true, true],
  );
  expect(triggers).toMatchObject([
    { captured_at: ago(9), triggers_fired: 1 },
    { captured_at: ago(2), triggers_fired: 2 },
    { captured_at: ago(0), triggers_fired: 3 },
  ]);
  expect(triggers.slice(0, 2).map(({ frame_key: key }) => world.pictures.get(key)?.[2])).toEqual([9, 2]);
  expect(progress).toHaveLength(2);
  expect(progress[1]).toMatchObject({ checks_performed: 2, triggers_fired: 3 });
  expect(job.counters).toMatchObject({ checks_performed: 2, triggers_fired: 3, input_tokens: 50 });
  // The picture of the moment that did not hold is removed.
  expect([...world.pictures.keys()].filter((key) => /-\d\.jpg$/.test(key))).toHaveLength(2);
});

test('the cooldown goes by the times of the moments', async () => {
  const { triggers, job } = await play(
    { max_triggers: null, trigger_cooldown_seconds: 5 },
    [9, 6, 3],
    [true, true, true, true],
  );
  expect(triggers.map(({ captured_at: at }) => at)).toEqual([ago(9), ago(3)]);
  expect(job.state).toMatchObject({ last_trigger_at: ago(3) });
});

test('max_triggers drops what comes after it', async () => {
  const { triggers, job } = await play({ max_triggers: 1 }, [9, 6], [true, true, true]);
  expect(triggers.map(({ captured_at: at }) => at)).toEqual([ago(9)]);
  expect(job).toMatchObject({ status: 'completed', reason: 'condition_triggered' });
  expect(job.sight.last_frame?.evidence).toBe(false);
});

test('a visit between two checks fires although nothing moves in the newest picture', async () => {
  world.script.moved.push(true, false);
  const { triggers } = await play({}, [6, 4], [true, false, false]);
  expect(triggers.map(({ captured_at: at }) => at)).toEqual([ago(6)]);
});

test('a visit before a black picture fires, and the black picture is not judged', async () => {
  world.script.black.push(false, true);
  const { triggers, progress, job } = await play({ max_triggers: null }, [6, 4], [false, true]);
  expect(triggers.map(({ captured_at: at }) => at)).toEqual([ago(4)]);
  expect(progress[1]).toMatchObject({
    triggered: null,
    judged: null,
    picture: 'black',
    prefilter_skipped: false,
    checks_performed: 2,
    explanation: 'The picture is black; moments before it are judged.',
  });
  expect(job.counters).toMatchObject({ checks_performed: 2, input_tokens: 30, frames_skipped: 0 });
  expect(job.next).toMatchObject({ judged: false });
});

test('a failed call about one moment before a black picture costs the other nothing', async () => {
  world.script.black.push(false, true);
  const { triggers } = await play({}, [6, 4], [new VisionError('The model failed'), true]);
  expect(triggers.map(({ captured_at: at }) => at)).toEqual([ago(4)]);
});

test('moments before a black picture whose calls fail are scanned again', async () => {
  world.script.black.push(false, true);
  const failure = new VisionError('The model failed');
  const { triggers, job } = await play({}, [6, 4], [failure, failure]);
  expect(triggers).toEqual([]);
  expect(job.counters).toMatchObject({ checks_missed: 1 });
  expect(job.next).toMatchObject({ judged: false, rescans: true });
});

test('a repeated picture that the model failed to judge waits for the next scan, which has it', async () => {
  const { script, c } = world;
  const fields = { look_back: true, max_triggers: null, input_mode: 'frames' as const };
  const job = await createMonitor(monitorRequest(fields), 'harbour', c);
  const positions: unknown[] = [];
  const { capture } = c.streams;
  let segment = 0;
  c.streams.capture = async (request, ...rest) => {
    positions.push(request.lookBack?.since);
    const captured = await capture(request, ...rest);
    const position = { segment: `${segment}:/${segment}.ts`, segment_seconds: 12, scan: `s${segment}` };
    return { ...captured, position, scan: newScan(captured.capturedAt, []) };
  };
  const clear = await world.tick(await world.begin({ run_id: job.run_id, generation: 0 }));
  segment = 1;
  script.verdicts.push(new VisionError('The model failed'));
  const failed = await world.tick(clear);
  const repeated = await world.tick(failed);
  segment = 2;
  script.verdicts.push(true);
  await world.tick(repeated);
  expect(positions).toEqual([null, 's0', 's0', 's0']);
  const { counters } = (await world.jobs.get(job.run_id, world.clock.now))!;
  expect(counters).toMatchObject({ checks_performed: 2, checks_missed: 1, frames_skipped: 1 });
});

test('a monitor without the field asks for no scan, and its configuration does not name it', async () => {
  const { job, triggers } = await play({ look_back: false, max_triggers: null }, [], [true]);
  expect(job.config).not.toHaveProperty('look_back');
  expect(await world.c.runs.source(job.source_id)).not.toHaveProperty('look_back');
  expect(triggers).toHaveLength(1);
});
