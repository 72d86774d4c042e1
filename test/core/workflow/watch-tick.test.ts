import { presentWatch } from '../../../core/watch/present-watch.ts';
import { watchSchema } from '../../../core/records/watch.ts';
import { describe, expect, test } from 'vitest';
import { StreamFetchError } from '../../../core/errors.ts';
import { VisionError } from '../../../core/vision-errors.ts';
import { addSeconds } from '../../../core/time.ts';
import { changeWatch, pauseWatch } from '../../../core/policies/watch/change.ts';
import { initialDestinationState } from '../../../core/delivery/destination-state.ts';
import { readMetrics } from '../../../core/observability/metrics.ts';
import { analyzeTask, captureTask } from '../../../core/workflow/tasks.ts';
import { start } from '../../contract/records.ts';
import { destination } from '../../support/watches/watch-records.ts';
import {
  changes,
  commitDecision,
  createWatch,
  eventTypes,
  run,
  stored,
  watchId,
  world,
} from '../../support/watches/watch-world.ts';
import { changingEach, judgingEach } from '../../support/scripted-model.ts';

describe('tick of a watch', () => {
  test('two of three verdicts open an alert, reminders repeat it, and two verdicts close it', async () => {
    const begun = await createWatch({ remind: 60 });
    world.script.verdicts.push(true, true);
    const opened = await run(begun, 2);
    expect(await eventTypes()).toEqual(['alert_opened']);
    const [alert] = await world.c.watches.alerts({ caller: 'caller', limit: 10 }, world.clock.now);
    expect(alert).toMatchObject({ condition_id: 'person', closed: null, explanation: 'It is there.' });
    expect(world.pictures.has(alert?.frame_key ?? '')).toBe(true);
    world.script.verdicts.push(...Array.from({ length: 7 }, () => true));
    const reminded = await run(opened, 7);
    expect(await eventTypes()).toEqual(['alert_opened', 'alert_reminder']);
    await run(reminded, 2);
    expect(await eventTypes()).toEqual(['alert_opened', 'alert_reminder', 'alert_closed']);
    expect(await world.c.watches.alert(alert?.alert_id ?? '', world.clock.now)).toMatchObject({
      reminders: 1,
      closed: { reason: 'cleared' },
    });
  });

  test('the evidence of an alert that stays open is stored again every six hours', async () => {
    const begun = await createWatch();
    world.script.verdicts.push(...Array.from({ length: 30 }, () => true));
    let step = await run(begun, 2);
    const [alert] = await world.c.watches.alerts({ caller: 'caller', limit: 1 }, world.clock.now);
    const refreshed: number[] = [];
    const { put } = world.c.media;
    world.c.media.put = async (key, ...rest) => {
      if (key === alert?.frame_key) refreshed.push(Math.round(world.clock.now.getTime() / 3_600_000));
      return put(key, ...rest);
    };
    const begin = Math.round(start.getTime() / 3_600_000);
    for (let hour = 0; hour < 14; hour += 1) {
      world.advance(3600);
      step = await run(step, 1);
    }
    expect(refreshed.map((hour) => hour - begin)).toEqual([6, 12]);
    expect(await eventTypes()).not.toContain('alert_closed');
  });

  test('a pause closes an alert without a picture', async () => {
    const begun = await createWatch();
    world.script.verdicts.push(true, true);
    await run(begun, 2);
    const watch = await stored();
    const { alerts } = pauseWatch(watch, 'paused', world.clock.now);
    expect(alerts).toMatchObject([{ kind: 'close', closed: { reason: 'paused', frame_key: null } }]);
  });

  test('a partly confirmed condition is checked again after confirm_seconds', async () => {
    const begun = await createWatch();
    world.script.verdicts.push(false, true);
    const cleared = await run(begun, 1);
    expect(Date.parse(cleared.wait_until) - world.clock.now.getTime()).toBe(10_000);
    const pending = await run(cleared, 1);
    expect(Date.parse(pending.wait_until) - world.clock.now.getTime()).toBe(2000);
  });

  test('a model that compares gets the frame of the check before', async () => {
    const pairs: (number[] | undefined)[][] = [];
    const { judge } = world.c.vision;
    Object.assign(world.c.vision, {
      capabilities: { ...world.c.vision.capabilities, usesPrevious: true },
      judge: (...given: Parameters<typeof judge>) => {
        const [{ frame, previous }] = given;
        pairs.push([[...frame], previous && [...previous]]);
        return judge(...given);
      },
    });
    await run(await createWatch(), 2);
    expect(pairs[0]?.[1]).toBeUndefined();
    expect(pairs[1]?.[1]).toEqual(pairs[0]?.[0]);
  });

  test('one call asks about several conditions, and a doubled or missing id gives no verdict', async () => {
    const begun = await createWatch({ conditions: ['person', 'car', 'dog'] });
    const asked: string[][] = [];
    const { judge } = world.c.vision;
    world.c.vision.judge = async (media, questions, signal) => {
      if (questions.length === 1) return judge(media, questions, signal);
      asked.push(questions.map(({ condition_id: id }) => id));
      const verdict = { triggered: true, explanation: 'Seen.' };
      const verdicts = ['person', 'car', 'car', 'cat'].map((condition_id) => ({ condition_id, ...verdict }));
      return { moments: [verdicts], tokens: { input_tokens: 100, output_tokens: 30 } };
    };
    const once = await run(begun, 1);
    expect(asked).toEqual([['person', 'car', 'dog']]);
    const { conditions } = (await stored()).state;
    expect(conditions.map(({ history, left_out: leftOut }) => [history, leftOut])).toEqual([
      ['1', 0],
      ['', 1],
      ['', 1],
    ]);
    // Left out three times in a row: asked about alone.
    await run(once, 30);
    const alone = (await stored()).state.conditions.find(({ condition_id: id }) => id === 'dog');
    expect(alone).toMatchObject({ left_out: 3, phase: 'clear' });
  });

  test('a change while the model is asked keeps the verdicts of the other conditions', async () => {
    const begun = await createWatch({ conditions: ['person', 'car'] });
    world.c.vision.judge = async (_, questions) => {
      const watch = await stored();
      const [person, car] = watch.config.conditions;
      if (!person || !car) throw new Error('no conditions');
      const config = { ...watch.config, conditions: [{ ...person, condition: 'a postman' }, car] };
      await commitDecision(changeWatch(watch, { config, isOtherStream: false }, world.clock.now), config);
      return {
        moments: [
          questions.map(({ condition_id }) => ({ condition_id, triggered: true, explanation: 'Seen.' })),
        ],
        tokens: { input_tokens: 100, output_tokens: 30 },
      };
    };
    const step = await run(begun, 1);
    expect(step.done).toBe(true);
    const { state, generation } = await stored();
    expect(state.conditions.map(({ history }) => history)).toEqual(['', '1']);
    expect(world.executions.get(`${watchId}-${generation}`)).toBe('running');
    const [hour] = await world.c.watches.hours(watchId, new Date(0), new Date('2100-01-01'));
    expect(hour?.counts).toMatchObject({ model_calls: 1, input_tokens: 100 });
  });

  test('a pause while the model is asked keeps the watch paused and counts the tokens', async () => {
    const begun = await createWatch();
    world.c.vision.judge = judgingEach(async () => {
      const watch = await stored();
      await commitDecision(pauseWatch(watch, 'caller', world.clock.now));
      return { triggered: true, explanation: 'Seen.', tokens: { input_tokens: 10, output_tokens: 2 } };
    });
    const step = await run(begun, 1);
    expect(step.done).toBe(true);
    const { state } = await stored();
    expect(state.causes.paused).not.toBeNull();
    expect(state.conditions[0]).toMatchObject({ phase: 'unknown', history: '' });
  });

  test('a tick that reserves calls reads its watch once, and commits twice', async () => {
    const begun = await createWatch({ budget: { model_calls_per_day: 3, usd_per_day: null } });
    const { get, commit } = world.c.runs;
    const made: string[] = [];
    world.c.runs.get = async (...given) => (made.push('get'), get(...given));
    world.c.runs.commit = async (change) => (made.push('commit'), commit(change));
    await run(begun, 1);
    expect(made).toEqual(['get', 'commit', 'commit']);
  });

  test('a crash between the model call and the commit forfeits its block of the budget', async () => {
    const begun = await createWatch({ budget: { model_calls_per_day: 3, usd_per_day: null } });
    let calls = 0;
    world.c.vision.judge = judgingEach(async () => {
      calls += 1;
      if (calls === 1) throw new Error('The process ended');
      return { triggered: false, explanation: 'Nothing.', tokens: { input_tokens: 10, output_tokens: 2 } };
    });
    await expect(run(begun, 1)).rejects.toThrow('The process ended');
    const next = await run(begun, 2);
    expect((await stored()).state.budget).toMatchObject({ calls: 3, reserved: null });
    expect(await eventTypes()).toEqual(['watch_changed', 'watch_changed']);
    expect((await stored()).status).toBe('budget_exhausted');
    expect(next.wait_until).toBe('2026-03-02T00:00:00.000Z');
    expect(next.capture.closing).toBe(true);
    expect(calls).toBe(3);
  });

  test('a reservation that another change outdates is repeated before the model is called', async () => {
    const begun = await createWatch({ budget: { model_calls_per_day: 3, usd_per_day: null } });
    const { commit } = world.c.runs;
    world.c.runs.commit = async () => {
      world.c.runs.commit = commit;
      return 'outdated';
    };
    const reserved: unknown[] = [];
    world.c.vision.judge = judgingEach(async () => {
      reserved.push((await stored()).state.budget?.reserved);
      return { triggered: false, explanation: 'Nothing.', tokens: { input_tokens: 10, output_tokens: 2 } };
    });
    await run(begun, 1);
    expect(reserved).toEqual([expect.objectContaining({ calls: 1 })]);
  });

  test('a failed model leaves the conditions unknown and the watch active', async () => {
    const begun = await createWatch();
    world.script.verdicts.push(...Array.from({ length: 20 }, () => new VisionError('Try again.')));
    await run(begun, 20);
    const { status, state, sight } = await stored();
    expect(status).toBe('active');
    expect(sight.model_trouble).toMatchObject({ failures: 20, failure: { code: 'VLM_ERROR' } });
    expect(state.conditions[0]).toMatchObject({ phase: 'unknown', unjudged: 1 });
  });

  test('a watch whose model cannot judge a condition says so from the third check on', async () => {
    const begun = await createWatch();
    const { judge } = world.c.vision;
    world.c.vision.judge = changingEach(judge, { triggered: null });
    const before = await run(begun, 2);
    expect(presentWatch(await stored(), world.clock.now).state.conditions).toMatchObject([
      { unjudged: false },
    ]);
    await run(before, 1);
    expect(presentWatch(await stored(), world.clock.now).state.conditions).toMatchObject([
      { state: 'unknown', unjudged: true },
    ]);
  });

  test('a condition that was clear is unknown after ten minutes without a verdict, though nothing moves', async () => {
    const begun = await createWatch();
    const { judge } = world.c.vision;
    let step = await run(begun, 1);
    world.c.vision.judge = changingEach(judge, { triggered: null });
    const read = async () => presentWatch(await stored(), world.clock.now).state.conditions;
    for (let tick = 0; tick < 70; tick += 1) {
      world.script.moved.push(tick < 3);
      step = await run(step, 1);
      if (tick === 20) expect(await read()).toMatchObject([{ state: 'clear', unjudged: true }]);
    }
    expect(await read()).toMatchObject([{ state: 'unknown', unjudged: true }]);
  });

  test('conditions age while no tick comes: clear ones are unknown and open alerts unconfirmed', async () => {
    const budget = { model_calls_per_day: 2, usd_per_day: null };
    const begun = await createWatch({ conditions: ['person', 'car'], budget });
    world.c.vision.judge = judgingEach(async (_media, condition) => ({
      triggered: condition.includes('person'),
      explanation: '',
      tokens: { input_tokens: 1, output_tokens: 1 },
    }));
    await run(begun, 2);
    const read = async () => {
      const { conditions } = presentWatch(await stored(), world.clock.now).state;
      return conditions.map(({ state, unconfirmed }) => [state, unconfirmed]);
    };
    expect([(await stored()).status, await read()]).toEqual([
      'budget_exhausted',
      [
        ['open', false],
        ['clear', false],
      ],
    ]);
    world.advance(600);
    expect(await read()).toEqual([
      ['open', true],
      ['unknown', false],
    ]);
  });

  test('a check that is five minutes late is reported once, and checks in time end it', async () => {
    const begun = await createWatch();
    const first = await run(begun, 1);
    world.advance(400);
    const late = await run(first, 1);
    expect(await changes()).toEqual([expect.objectContaining({ reason: 'checks_late', late_seconds: 390 })]);
    expect((await stored()).state.health.late_since).toBe(first.wait_until);
    await run(late, 2);
    expect((await changes()).map(({ reason }) => reason)).toEqual(['checks_late', 'checks_in_time']);
    expect((await stored()).state.health.late_since).toBeNull();
  });

  test('a destination that is disabled or fails for minutes is reported, and so is its recovery', async () => {
    const begun = await createWatch({
      destinations: [destination, { ...destination, destination_id: 'mail' }],
    });
    const state = {
      ...initialDestinationState({ ...destination, run: 'watch', run_id: watchId }),
      last_error: 'it answered 503',
    };
    await world.c.deliveries.changeState(state, () => ({
      ...state,
      failures: 3,
    }));
    const healthy = await run(begun, 1);
    expect(await changes()).toEqual([]);
    await world.c.deliveries.changeState(state, () => ({
      ...state,
      failures: 4,
    }));
    const failing = await run(healthy, 2);
    expect(await changes()).toEqual([
      { status: 'active', reason: 'destination_failed', destination_id: 'team', error: 'it answered 503' },
    ]);
    const read = world.c.deliveries.states;
    world.c.deliveries.states = async () => Promise.reject(new Error('throttled'));
    const unread = await run(failing, 1);
    world.c.deliveries.states = read;
    expect(await changes()).toHaveLength(1);
    const disabled = { at: start.toISOString(), reason: 'it answered 410' };
    await world.c.deliveries.changeState(state, () => ({
      ...state,
      fingerprint: 'another address',
      disabled,
    }));
    await run(unread, 1);
    expect((await changes()).at(-1)).toEqual({
      status: 'active',
      reason: 'destination_recovered',
      destination_id: 'team',
    });
    expect((await stored()).state.health.failing).toEqual([]);
  });

  test('frames of the metrics include the captures of watches', async () => {
    const begun = await createWatch();
    world.script.moved.push(true, false, false);
    await run(begun, 3);
    expect((await readMetrics(world.c)).frames).toEqual({ captured: 1, skipped_prefilter: 2 });
  });

  test('a repeated Analyze returns the stored tick without another model call', async () => {
    const begun = await createWatch();
    const captured = await captureTask(begun.capture, world.c);
    const input = { operation: 'analyze', run_id: watchId, generation: 0, capture: begun.capture, captured };
    const first = await analyzeTask(input, world.c);
    world.c.vision.judge = judgingEach(async () => Promise.reject(new Error('asked again')));
    expect(await analyzeTask(input, world.c)).toEqual(first);
  });
});

describe('a lost camera', () => {
  const unreachable = new StreamFetchError('No response.');
  const refused = new StreamFetchError('Refused.', undefined, { accessRefused: true });
  const platform = 'https://www.youtube.com/watch?v=x';

  /**
   * Loses the stream; each attempt hangs for `hangs` seconds, only its capture if the camera `responds`. Returns the
   * starts of attempts, in seconds, and how many were captures.
   */
  async function lose(error: Error, { lostCameraSeconds = 30, url = '', hangs = 0, responds = false }) {
    const begun = await createWatch();
    const watch = await stored();
    if (url) {
      const source = {
        source_id: watch.source_id,
        caller: watch.caller,
        url,
        input_mode: 'frames',
        clip_duration_seconds: 3,
      } as const;
      const change = {
        meta: { ...watchSchema.parse(watch), stream_url: url },
        source,
        set: {},
        events: [],
      };
      await world.c.watches.commit({ runId: watchId, expectedVersion: watch.version, ...change });
    }
    world.c.limits = { ...world.c.limits, ...(lostCameraSeconds && { lostCameraSeconds }) };
    const attempts: number[] = [];
    let captures = 0;
    const seconds = () => (world.clock.now.getTime() - start.getTime()) / 1000;
    const { capture, probe } = world.c.streams;
    let isBack = false;
    const attempt = () => {
      attempts.push(seconds());
      if (isBack) return;
      world.clock.now = addSeconds(world.clock.now, hangs);
      throw error;
    };
    world.c.streams = {
      ...world.c.streams,
      probe: async (...args) => {
        if (!responds) attempt();
        return probe(...args);
      },
      capture: async (...args) => {
        captures += 1;
        if (!isBack) attempt();
        return capture(...args);
      },
    };
    let step = begun;
    for (let ticks = 0; ticks < 14; ticks += 1) {
      step = await run(step, 1);
      // Before a long wait, the next generation takes over.
      if (step.done) step = await world.begin({ run_id: watchId, generation: (await stored()).generation });
    }
    return { step, attempts, seconds, captures: () => captures, returns: () => (isBack = true) };
  }

  test('a lost camera is probed 30 s after the start of the attempt before, and seen again after 45 s at most', async () => {
    const { step, attempts, seconds, captures, returns } = await lose(unreachable, { hangs: 14 });
    expect(captures()).toBe(1);
    const starts = attempts.slice(-8);
    expect(starts.slice(1).map((at, index) => at - (starts[index] ?? 0))).toEqual(Array(7).fill(30));
    // Right after the start of an attempt that did not reach it.
    const backAt = (attempts.at(-1) ?? 0) + 1;
    returns();
    await run(step, 1);
    expect(await eventTypes()).toEqual(['stream_lost', 'stream_recovered']);
    expect(seconds() - backAt).toBeLessThanOrEqual(45);
  });

  test.each([
    ['refuses the password', refused, {}, 1800],
    ['is a page of a platform', unreachable, { url: platform }, 300],
    ['responds, and hangs in each capture', unreachable, { hangs: 50, responds: true }, 350],
    ['is on a host where attempts cost money', unreachable, { lostCameraSeconds: 0 }, 300],
  ])('a lost stream that %s keeps its growing waits', async (_, error, options, expected) => {
    const { attempts } = await lose(error, options);
    expect((attempts.at(-1) ?? 0) - (attempts.at(-2) ?? 0)).toBe(expected);
  });
});
