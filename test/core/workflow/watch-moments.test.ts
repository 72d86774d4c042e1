import { describe, expect, test } from 'vitest';
import { ModelBusyError, VisionError } from '../../../core/vision-errors.ts';
import type { WorkflowState } from '../../../core/records/workflow.ts';
import { addSeconds } from '../../../core/time.ts';
import { presentWatch } from '../../../core/watch/present-watch.ts';
import { compared, newScan } from '../../support/watches/scans.ts';
import { ago, quiet, tick, visitor } from '../../support/watches/scanned-watch.ts';
import {
  alertEvents,
  createWatch,
  eventTypes,
  run,
  stored,
  watchId,
  world,
} from '../../support/watches/watch-world.ts';

describe('a visit between two checks', () => {
  test('a visit that two moments show opens an alert with the time, the picture and the explanation of its moment', async () => {
    const clear = await run(await createWatch(), 1);
    await tick(clear, [...quiet(8), ...visitor(6, 4)], [true, true, false]);
    const [opened, ...others] = await alertEvents();
    expect(others).toEqual([]);
    expect(opened).toMatchObject({
      type: 'alert_opened',
      data: {
        opened_at: ago(4),
        explanation: 'It is there.',
        checks: [{}, { checked_at: ago(6) }, { checked_at: ago(4) }],
      },
    });
    expect(opened?.data).not.toHaveProperty('ended');
    const key = opened && 'frame_key' in opened.data ? opened.data.frame_key : '';
    expect(world.pictures.get(key ?? '')?.[2]).toBe(4);
    const [alert] = await world.c.watches.alerts({ caller: 'caller', limit: 1 }, world.clock.now);
    expect(alert).toMatchObject({ opened_at: ago(4), frame_key: key, closed: null });
  });

  test('a tick keeps the newest frame and the evidence, and no other picture of its moments', async () => {
    const clear = await run(await createWatch(), 1);
    await tick(clear, visitor(6, 4), [true, true, false]);
    const { sight } = await stored();
    expect([...world.pictures.keys()].filter((key) => key.startsWith('captures/'))).toEqual([
      sight.last_frame?.key,
    ]);
    expect([...world.pictures.keys()].filter((key) => key.startsWith('evidence/'))).toHaveLength(1);
  });

  test('a visit that is over within the tick opens as ended, closes, and is one change of the alert', async () => {
    const clear = await run(await createWatch(), 1);
    const { commit } = world.c.runs;
    const changes: unknown[] = [];
    world.c.runs.commit = async (change) => {
      changes.push(...(change.alerts ?? []));
      return commit(change);
    };
    await tick(clear, [...visitor(12, 8, 4), ...quiet(3, 2, 1)], [true, true, false, false]);
    const [opened, closed] = await alertEvents();
    expect(opened).toMatchObject({
      type: 'alert_opened',
      data: { opened_at: ago(8), ended: true, open_seconds: 6 },
    });
    expect(closed).toMatchObject({
      type: 'alert_closed',
      data: { closed_at: ago(2), open_seconds: 6, reason: 'cleared' },
    });
    expect(changes).toMatchObject([{ kind: 'open', alert: { closed: { at: ago(2), open_seconds: 6 } } }]);
    const [alert] = await world.c.watches.alerts(
      { caller: 'caller', limit: 1, state: 'closed' },
      world.clock.now,
    );
    expect(alert).toMatchObject({ closed: { open_seconds: 6 }, expires_at: expect.any(String) });
    expect((await stored()).state).toMatchObject({
      openings: 1,
      conditions: [{ phase: 'clear', alert: null }],
    });
  });

  test('frames that the model did not judge are not clear before a moment that it judged so', async () => {
    const clear = await run(await createWatch(), 1);
    await tick(clear, [...visitor(8, 6), ...quiet(4, 3, 2, 1)], [true, true, false], true);
    expect(await eventTypes()).toEqual(['alert_opened']);
    expect((await stored()).state.conditions).toMatchObject([{ phase: 'open', history: '0' }]);
  });

  test('frames like the picture that the check before judged clear close the alert without another check', async () => {
    const clear = await run(await createWatch(), 1);
    await tick(clear, [...visitor(8, 6), ...quiet(4, 2)], [true, true, false]);
    expect(await alertEvents()).toMatchObject([
      { type: 'alert_opened', data: { opened_at: ago(6), ended: true } },
      { type: 'alert_closed', data: { closed_at: ago(2), open_seconds: 4 } },
    ]);
    expect(world.script.verdicts).toEqual([]);
  });

  test('one moment that holds opens nothing, and the check that follows confirms it by its own scan', async () => {
    const clear = await run(await createWatch(), 1);
    const pending = await tick(clear, visitor(2), [true, false]);
    expect(await eventTypes()).toEqual([]);
    expect(pending.capture.confirms).toBe(true);
    expect(Date.parse(pending.wait_until) - world.clock.now.getTime()).toBe(2000);
    await tick(pending, visitor(1), [true, false]);
    expect(await alertEvents()).toMatchObject([{ type: 'alert_opened', data: { opened_at: ago(1) } }]);
  });

  test('a capture without motion and without moments is skipped, one with a moment is judged', async () => {
    const clear = await run(await createWatch(), 1);
    const skipped = await tick(clear, quiet(8, 6, 4, 2), []);
    const judged = await tick(skipped, visitor(6, 4), [true, true, false]);
    const events = await world.c.watches.events(watchId, 0, 100, world.clock.now);
    const skips = events.flatMap((event) =>
      event.type === 'progress' ? [event.data.prefilter_skipped] : [],
    );
    expect(skips).toEqual([false, true, false]);
    expect(judged.done).toBe(false);
  });

  test('a visit in the scan of a check that the model failed is judged in the scan of the next one', async () => {
    const clear = await run(await createWatch(), 1);
    const { script, c } = world;
    const positions: unknown[] = [];
    const failure = new VisionError('The model failed');
    const { capture } = c.streams;
    const scan = async (
      step: WorkflowState,
      position: string,
      verdicts: (boolean | Error)[],
      repeated = false,
    ) => {
      script.earlier.push(visitor(6, 4).map(compared));
      script.verdicts.push(...verdicts);
      const { seen } = step.capture;
      c.streams.capture = async (request, ...rest) => {
        c.streams.capture = capture;
        positions.push(request.lookBack?.since);
        const captured = await capture(request, ...rest);
        const segment = repeated ? seen!.position.segment : captured.position.segment;
        return {
          ...captured,
          scan: newScan(captured.capturedAt, visitor(6, 4)),
          position: { ...captured.position, segment, scan: position },
        };
      };
      return world.tick(step);
    };
    const judged = await scan(clear, 'first', [false, false, false]);
    const failed = await scan(judged, 'second', [failure, failure, failure]);
    const waiting = await scan(failed, 'third', [], true);
    expect(await eventTypes()).toEqual([]);
    const opened = await scan(waiting, 'fourth', [true, true, false]);
    expect(await eventTypes()).toEqual(['alert_opened']);
    await scan(opened, 'fifth', [false, false, false]);
    expect(positions).toEqual([null, 'first', 'first', 'first', 'fourth']);
    expect((await stored()).seen?.position.scan).toBe('fifth');
  });

  const failure = new VisionError('The model failed');
  const busy = new ModelBusyError();
  test.each<[string, string, (boolean | Error)[]]>([
    ['no frame, because it fails,', 'again', [failure, failure, failure]],
    ['no frame, because it is busy,', 'again', [busy, busy, busy]],
    ['one of the frames', 'again', [false, failure, failure]],
    ['only the newest frame', 'again', [failure, failure, false]],
    ['all but the newest frame', 'once', [false, false, failure]],
    ['all frames', 'once', [false, false, false]],
  ])('the time of a scan of which the model judges %s is scanned %s', async (_, scanned, verdicts) => {
    await tick(await run(await createWatch(), 1), visitor(6, 4), verdicts);
    expect((await stored()).next?.rescans ?? false).toBe(scanned === 'again');
  });

  test('a confirming check whose scan finds a visit asks about all conditions', async () => {
    const asked: string[][] = [];
    const begun = await createWatch({ conditions: ['person', 'car'] });
    world.c.vision.judge = async ({ frame }, questions) => {
      asked.push(questions.map(({ condition_id: id }) => id));
      const verdicts = questions.map(({ condition_id }) => ({
        condition_id,
        triggered: condition_id === 'person' && frame[2] === 3,
        explanation: 'Seen.',
      }));
      return { moments: [verdicts], tokens: { input_tokens: 10, output_tokens: 2 } };
    };
    const clear = await run(begun, 1);
    const pending = await tick(clear, visitor(3), []);
    asked.length = 0;
    const confirmed = await tick(pending, visitor(1), []);
    expect(asked).toEqual([
      ['person', 'car'],
      ['person', 'car'],
    ]);
    asked.length = 0;
    await tick(confirmed, quiet(1), []);
    expect(asked).toEqual([['person']]);
  });

  test('one tick opens one alert of a condition, and counts its verdicts in the statistics', async () => {
    const clear = await run(await createWatch(), 1);
    await tick(clear, visitor(9, 6, 3), [true, true, true, false]);
    expect(await eventTypes()).toEqual(['alert_opened']);
    const [hour] = await world.c.watches.hours(watchId, new Date(0), new Date('2100-01-01'));
    expect(hour?.counts).toMatchObject({ checks: 2, verdicts: 5, ticks: 2, alerts_opened: 1 });
  });

  test('an open alert closes with the picture of the moment that was clear', async () => {
    let step = await run(await createWatch(), 1);
    step = await tick(step, visitor(8, 4), [true, true, true]);
    await tick(step, [...visitor(9, 6), ...quiet(3)], [false, false, false]);
    const [, closed, ...others] = await alertEvents();
    expect(others).toEqual([]);
    expect(closed).toMatchObject({ type: 'alert_closed', data: { closed_at: ago(6) } });
    expect(closed && 'frame_key' in closed.data && world.pictures.get(closed.data.frame_key ?? '')?.[2]).toBe(
      6,
    );
  });

  test('a person who leaves and is back by the check is one alert', async () => {
    let step = await run(await createWatch(), 1);
    step = await tick(step, visitor(8, 4), [true, true, true]);
    step = await tick(step, visitor(9, 6, 3), [false, false, true, true]);
    expect(await eventTypes()).toEqual(['alert_opened']);
    expect((await stored()).state.conditions).toMatchObject([{ phase: 'open', history: '011' }]);
  });

  test('a person who leaves, comes back and has left by the check is two alerts, each with its own times', async () => {
    let step = await run(await createWatch(), 1);
    step = await tick(step, visitor(8, 4), [true, true, true]);
    step = await tick(step, [], [false], true);
    await tick(step, [...quiet(9, 8, 6), ...visitor(5, 3), ...quiet(2, 1)], [true, true, false]);
    expect(await alertEvents()).toMatchObject([
      { type: 'alert_opened' },
      { type: 'alert_closed', data: { closed_at: ago(8) } },
      { type: 'alert_opened', data: { opened_at: ago(3), ended: true } },
      { type: 'alert_closed', data: { closed_at: ago(0) } },
    ]);
  });

  test('frames of a scan close an alert no sooner than confirming checks do', async () => {
    let step = await run(await createWatch(), 1);
    step = await tick(step, visitor(8, 4), [true, true, true]);
    step = await tick(step, [...visitor(3), ...quiet(2.5, 2, 1.5)], [false, false]);
    expect(await alertEvents()).toMatchObject([
      { type: 'alert_opened' },
      { type: 'alert_closed', data: { closed_at: ago(0) } },
    ]);
  });

  test('an alert that may have ended waits for the scan of the next check of the interval', async () => {
    let step = await run(await createWatch(), 1);
    step = await tick(step, visitor(8, 4), [true, true, true]);
    step = await tick(step, [], [false], true);
    expect((await stored()).state.conditions).toMatchObject([{ phase: 'open', history: '10' }]);
    expect(Date.parse(step.wait_until) - world.clock.now.getTime()).toBe(10_000);
    await tick(step, quiet(8, 6, 4, 2), [false]);
    expect(await alertEvents()).toMatchObject([
      { type: 'alert_opened' },
      { type: 'alert_closed', data: { closed_at: ago(8) } },
    ]);
  });
});

describe('the end of an alert without motion', () => {
  /** Opens an alert and judges clear pictures. */
  async function leave(clearSeconds: number[]) {
    let step = await run(await createWatch({ toClose: 3 }), 1);
    step = await tick(step, visitor(8, 4), [true, true, true]);
    return tick(step, visitor(...clearSeconds), [...clearSeconds.map(() => false), false], true);
  }

  test('frames without motion close an alert after two pictures that were judged clear', async () => {
    await tick(await leave([3]), quiet(8, 6), [true]);
    expect(await alertEvents()).toMatchObject([
      { type: 'alert_opened' },
      { type: 'alert_closed', data: { closed_at: ago(8) } },
    ]);
    // The model was not asked.
    expect(world.script.verdicts).toEqual([true]);
  });

  test('an alert with one picture that was judged clear needs another verdict', async () => {
    await tick(await leave([]), quiet(8, 6), [true]);
    expect(await eventTypes()).toEqual(['alert_opened']);
    expect((await stored()).state.conditions).toMatchObject([{ history: '101' }]);
  });

  test('motion after two pictures that were judged clear is judged', async () => {
    await tick(await leave([3]), quiet(8, 6), [true], true);
    expect(await eventTypes()).toEqual(['alert_opened']);
  });
});

describe('times of moments', () => {
  test.each([
    ['back', -3600],
    ['forward', 3600],
  ])('a clock that is set %s judges nothing twice and keeps the order of times', async (_, seconds) => {
    const clear = await run(await createWatch(), 1);
    const opened = await tick(clear, visitor(6, 4), [true, true, false]);
    world.stepClock(seconds);
    await tick(opened, visitor(6, 3), [true, true, true]);
    expect((await alertEvents()).map(({ type }) => type)).toEqual(['alert_opened']);
    const [condition] = (await stored()).state.conditions;
    const times = condition?.checked_at ?? [];
    expect(times).toEqual(times.toSorted((one, other) => one - other));
    expect(times.at(-1)).toBe(Math.floor(world.clock.now.getTime() / 1000));
  });

  test('a stream whose times jump back puts no datapoint before one that counted', async () => {
    const clear = await run(await createWatch(), 1);
    await tick(clear, visitor(50, 40), [true, true, false]);
    const begin = Date.parse((await stored()).created_at) / 1000;
    const [condition] = (await stored()).state.conditions;
    for (const time of condition?.checked_at ?? []) expect(time).toBeGreaterThanOrEqual(begin);
    const [opened] = await alertEvents();
    expect(opened?.data).toMatchObject({ opened_at: (await stored()).created_at });
  });

  test('moments before the begin of a span of the schedule are not judged', async () => {
    const from = '12:01';
    const days = ['mon', 'tue', 'wed', 'thu', 'fri', 'sat', 'sun'] as const;
    const schedule = { time_zone: 'UTC', active: [{ days: [...days], from, to: '23:00' }] };
    let step = await createWatch({ schedule });
    while (step.capture.closing) step = await world.tick(step);
    world.advance(5);
    await tick(step, visitor(20, 15, 3), [true, false]);
    const [condition] = (await stored()).state.conditions;
    expect(condition?.history).toBe('10');
  });
});

describe('the shortest visit of a watch', () => {
  const read = async () => presentWatch(await stored(), world.clock.now).state.shortest_visit_seconds;

  test('a watch states it by its newest scan, and its openings do', async () => {
    const clear = await run(await createWatch(), 1);
    expect(await read()).toBe(14);
    await tick(clear, visitor(6, 4), [true, true, false]);
    expect(await read()).toBe(7);
    const [opened] = await alertEvents();
    // The scan of the visit is the first one.
    expect(opened?.data).toMatchObject({ shortest_visit_seconds: 14 });
  });

  test('a watch keeps it where nothing is new, and gives it up if the stream cannot be scanned', async () => {
    const clear = await run(await createWatch(), 1);
    const scanned = await tick(clear, quiet(4, 2), []);
    expect(await read()).toBe(7);
    const empty = await tick(scanned, [], [], true);
    expect(await read()).toBe(7);
    await run(empty, 1);
    expect(await read()).toBe(14);
  });

  test('a progress event counts the moments that the model judged', async () => {
    const clear = await run(await createWatch(), 1);
    await tick(clear, visitor(6, 4), [true, true, false]);
    const events = await world.c.watches.events(watchId, 0, 100, world.clock.now);
    const counts = events.flatMap(({ type, data }) => (type === 'progress' ? [data.moments_judged] : []));
    expect(counts).toEqual([undefined, 2]);
  });
});

describe('times of alerts', () => {
  test.each([
    ['that the stream states', 3, 3],
    ['of the capture, if those of the stream are of another clock', 400, 0],
    ['of the capture, if those of the stream are in the future', -30, 0],
  ])('an alert has the times %s', async (_, ageSeconds, expected) => {
    const clear = await run(await createWatch(), 1);
    world.clock.now = new Date(clear.wait_until);
    world.script.captures.push({ capturedAt: addSeconds(world.clock.now, -ageSeconds) });
    await tick(clear, visitor(6, 4), [true, true, false]);
    expect(await alertEvents()).toMatchObject([{ data: { opened_at: ago(expected + 4) } }]);
    const [event] = await alertEvents();
    expect(event?.timestamp).toBe(world.clock.now.toISOString());
  });

  test('the time without motion counts on the clock of the pictures', async () => {
    let step = await run(await createWatch(), 1);
    const lagging = () => {
      world.clock.now = new Date(step.wait_until);
      world.script.captures.push({ capturedAt: addSeconds(world.clock.now, -8) });
    };
    lagging();
    step = await tick(step, visitor(6, 4), [true, true, true]);
    lagging();
    step = await tick(step, [], []);
    expect((await stored()).state.conditions).toMatchObject([{ seen_at: ago(8) }]);
  });
});
