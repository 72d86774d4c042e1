import { describe, expect, test } from 'vitest';
import { createRunStores } from '../../../../cli/service/open-stores.ts';
import type { RunTasks } from '../../../../adapters/embedded/scheduler/tick-loop.ts';
import { openDatabase } from '../../../../adapters/embedded/sqlite/database.ts';
import { TransientError } from '../../../../core/errors.ts';
import { addSeconds } from '../../../../core/time.ts';
import { start as startOfTest } from '../../../contract/records.ts';
import { newCreation } from '../../../contract/watch-records.ts';
import { errorNamed, executionInput, scriptedRun } from '../../../support/scripted-run.ts';
import { FakeClock, settle } from './fake-clock.ts';
import { testScheduler } from './test-scheduler.ts';

const input = executionInput();

/** Tasks that collect their calls in `calls`. */
function recorded(
  ticks: number,
  before: (call: string, input: any, signal: AbortSignal) => unknown = () => {},
) {
  const calls: string[] = [];
  const tasks = scriptedRun(ticks, (call, given, signal) => {
    calls.push(call);
    return before(call, given, signal);
  });
  return { calls, tasks };
}

/** Task that ends when its signal aborts. */
const untilAborted = (signal: AbortSignal) =>
  new Promise<never>((_, reject) => {
    signal.addEventListener('abort', () => reject(errorNamed('AbortError')));
  });

describe('a run', () => {
  test('a run ticks at the times that Analyze plans, until it is done', async () => {
    const { calls, tasks } = recorded(2);
    const { scheduler, clock } = testScheduler({ tasks });
    expect(await scheduler.status(input)).toBeUndefined();
    expect(await scheduler.start(input)).toBe('started');
    await clock.advance(9);
    expect(calls).toEqual(['begin']);
    expect(await scheduler.status(input)).toBe('running');
    expect(scheduler.runsHere(input)).toBe(true);
    await clock.advance(1);
    expect(calls).toEqual(['begin', 'capture 1', 'analyze 1']);
    await clock.advance(10);
    expect(calls.slice(3)).toEqual(['capture 2', 'analyze 2']);
    expect(await scheduler.status(input)).toBeUndefined();
    expect(clock.dueInSeconds).toEqual([]);
  });

  test('a run begins once, however often it is started', async () => {
    const { calls, tasks } = recorded(1);
    const { scheduler } = testScheduler({ tasks, unfinished: [input] });
    await scheduler.resume();
    expect(await scheduler.start(input)).toBe('already');
    await scheduler.resume();
    await settle();
    expect(calls).toEqual(['begin']);
  });

  test('hundreds of runs that the process before left unfinished continue', async () => {
    const unfinished = Array.from({ length: 300 }, (_, number) => executionInput(number));
    const { calls, tasks } = recorded(1);
    const { scheduler, clock } = testScheduler({ tasks, unfinished });
    await scheduler.resume();
    await clock.advance(10);
    expect(calls.filter((call) => call === 'analyze 1')).toHaveLength(300);
  });

  test.each(Array.from({ length: 7 }, (_, index) => index + 1))(
    'a run whose process is killed during its call %d makes that call again in the next one, and no other',
    async (killedCall) => {
      let process = 1;
      const whole = ['begin', 'capture 1', 'analyze 1', 'capture 2', 'analyze 2', 'capture 3', 'analyze 3'];
      const { calls, tasks } = recorded(3, () =>
        process === 1 && calls.length === killedCall ? new Promise(() => {}) : undefined,
      );
      const first = testScheduler({ tasks });
      await first.scheduler.start(input);
      await first.clock.advance(60);
      expect(calls).toEqual(whole.slice(0, killedCall));
      process = 2;
      calls.length = 0;
      const second = testScheduler({ tasks, unfinished: [input], clock: new FakeClock() });
      await second.scheduler.resume();
      await second.clock.advance(60);
      const captures = whole.slice(1).filter((_, index) => index >= 2 * Math.floor((killedCall - 2) / 2));
      expect(calls).toEqual(['begin', ...captures]);
    },
  );
});

describe('a newer generation', () => {
  const newer = { ...input, generation: 1 };

  test('a newer generation ends the wait of the one before', async () => {
    const generations: number[] = [];
    const { calls, tasks } = recorded(2, (call, { generation }) => {
      if (call === 'begin') generations.push(generation);
    });
    const { scheduler, clock } = testScheduler({ tasks });
    await scheduler.start(input);
    await clock.advance(3);
    expect(await scheduler.start(newer)).toBe('started');
    expect(await scheduler.start(input)).toBe('already');
    await clock.advance(60);
    expect(generations).toEqual([0, 1]);
    expect(calls).toEqual(['begin', 'begin', 'capture 1', 'analyze 1', 'capture 2', 'analyze 2']);
  });

  test('a newer generation aborts the capture of the one before, and does not analyze it', async () => {
    let aborted = false;
    const { calls, tasks } = recorded(1, (call, _, signal) => {
      if (call !== 'capture 1' || aborted) return undefined;
      signal.addEventListener('abort', () => (aborted = true));
      return untilAborted(signal);
    });
    const { scheduler, clock } = testScheduler({ tasks });
    await scheduler.start(input);
    await clock.advance(10);
    await scheduler.start(newer);
    await clock.advance(0);
    expect(aborted).toBe(true);
    expect(calls).toEqual(['begin', 'capture 1', 'begin', 'capture 1', 'analyze 1']);
  });

  test('a newer generation waits for the verdict of the one before, which may hand over to it', async () => {
    const { promise: verdict, resolve: judge } = Promise.withResolvers<void>();
    const { calls, tasks } = recorded(2, (call) => (call === 'analyze 1' ? verdict : undefined));
    const { scheduler, clock } = testScheduler({ tasks });
    await scheduler.start(input);
    await clock.advance(10);
    await scheduler.start(newer);
    await clock.advance(1);
    expect(calls).toEqual(['begin', 'capture 1', 'analyze 1']);
    judge();
    await clock.advance(20);
    expect(calls.slice(3)).toEqual(['begin', 'capture 2', 'analyze 2']);
  });
});

describe('waking', () => {
  test('a run that is woken while it waits reads its record again', async () => {
    const { calls, tasks } = recorded(1);
    const { scheduler, clock } = testScheduler({ tasks });
    await scheduler.start(input);
    await clock.advance(3);
    scheduler.wake(input.run_id);
    scheduler.wake('unknown');
    await clock.advance(3);
    expect(calls).toEqual(['begin', 'begin']);
    expect(clock.dueInSeconds).toEqual([4]);
  });

  test('a run that is woken during a task continues with it', async () => {
    const { calls, tasks } = recorded(1, (call) => {
      if (call === 'capture 1') scheduler.wake(input.run_id);
    });
    const { scheduler, clock } = testScheduler({ tasks });
    await scheduler.start(input);
    await clock.advance(10);
    expect(calls).toEqual(['begin', 'capture 1', 'analyze 1']);
  });
});

describe('a failing task', () => {
  test('a failing task is repeated after growing delays, half of them by chance, and logged once', async () => {
    const { calls, tasks } = recorded(1, (call) => {
      if (call === 'begin' && calls.length <= 2) throw errorNamed('States.Timeout');
    });
    const { scheduler, clock, log } = testScheduler({ tasks });
    await scheduler.start(input);
    await settle();
    expect(clock.dueInSeconds).toEqual([0.5]);
    await clock.advance(0.5);
    expect(clock.dueInSeconds).toEqual([1]);
    await clock.advance(60);
    expect(calls).toEqual(['begin', 'begin', 'begin', 'capture 1', 'analyze 1']);
    expect(log.entries.map(({ message }) => message)).toEqual(['[JOB:00000000] Task failed, repeating it']);
  });

  test('the log of a failing task names a watch as such', async () => {
    const { calls, tasks } = recorded(1, (call) => {
      if (call === 'begin' && calls.length === 1) throw errorNamed('States.Timeout');
    });
    const database = openDatabase(':memory:');
    const { watches } = createRunStores(database, () => {});
    await watches.create(newCreation({ run_id: input.run_id }), startOfTest);
    const { scheduler, clock, log } = testScheduler({ tasks, database });
    await scheduler.start(input);
    await clock.advance(1);
    expect(log.entries.map(({ message }) => message)).toEqual(['[WATCH:00000000] Task failed, repeating it']);
  });

  test.each<[string, unknown, { Error: string; Cause: string }]>([
    ['an error of a class', new RangeError('far'), { Error: 'RangeError', Cause: 'far' }],
    ['something that is no error', 'just text', { Error: 'Error', Cause: 'just text' }],
  ])('a run whose task throws %s is closed with its name and message', async (_, thrown, failure) => {
    const closed: unknown[] = [];
    const { tasks } = recorded(1, (call, given) => {
      if (call === 'capture 1') throw thrown;
      if (call === 'close') closed.push(given);
    });
    const { scheduler, clock } = testScheduler({ tasks });
    await scheduler.start(input);
    await clock.advance(60);
    expect(closed).toEqual([{ operation: 'close', ...input, failure }]);
    expect(await scheduler.status(input)).toBeUndefined();
  });

  test('a run that cannot be closed is left to reconcile, which can start it again', async () => {
    let works = false;
    const { tasks } = recorded(1, (call) => {
      if (!works && call !== 'begin') throw new TypeError('odd');
    });
    const { scheduler, clock, log } = testScheduler({ tasks });
    await scheduler.start(input);
    await clock.advance(600);
    expect(log.entries.at(-1)?.message).toMatch('Run not closed after a failure; reconcile starts it again');
    expect(await scheduler.status(input)).toBeUndefined();
    works = true;
    expect(await scheduler.start(input)).toBe('started');
    await clock.advance(60);
    expect(await scheduler.status(input)).toBeUndefined();
  });

  test('a task that takes too long is aborted and repeated, and its late result is dropped', async () => {
    const late = Promise.withResolvers<void>();
    let aborted = false;
    const { calls, tasks } = recorded(1, (call, _, signal) => {
      if (call !== 'capture 1' || aborted) return undefined;
      signal.addEventListener('abort', () => (aborted = true));
      return late.promise;
    });
    const { scheduler, clock } = testScheduler({ tasks });
    await scheduler.start(input);
    await clock.advance(10 + 59);
    expect(aborted).toBe(false);
    await clock.advance(1.5);
    late.resolve();
    await settle();
    expect(calls).toEqual(['begin', 'capture 1', 'capture 1', 'analyze 1']);
  });

  test('a full disk holds a run back until it has room, without a further attempt', async () => {
    const database = openDatabase(':memory:');
    const { calls, tasks } = recorded(1, (call) => {
      if (call === 'analyze 1' && database.prepare('PRAGMA query_only').get()?.['query_only'] === 1)
        throw new TransientError('The disk is full');
    });
    const { scheduler, clock } = testScheduler({ tasks, database });
    await scheduler.start(input);
    await settle();
    database.exec('PRAGMA query_only = ON');
    await clock.advance(3600);
    expect(calls).toEqual(['begin', 'capture 1', 'analyze 1']);
    database.exec('PRAGMA query_only = OFF');
    await clock.advance(31);
    expect(calls.slice(3)).toEqual(['analyze 1']);
    expect(await scheduler.status(input)).toBeUndefined();
  });
});

describe('stopping', () => {
  test('a stop aborts the task under way, drops its late result and frees the run', async () => {
    const late = Promise.withResolvers<void>();
    let aborted = false;
    const { calls, tasks } = recorded(1, (call, _, signal) => {
      signal.addEventListener('abort', () => (aborted = true));
      return call === 'capture 1' ? late.promise : undefined;
    });
    const { scheduler, clock } = testScheduler({ tasks });
    await scheduler.start(input);
    await clock.advance(10);
    await scheduler.stop(input, 'The job was cancelled');
    expect(aborted).toBe(true);
    expect(await scheduler.status(input)).toBeUndefined();
    late.resolve();
    await clock.advance(600);
    expect(calls).toEqual(['begin', 'capture 1']);
    expect(clock.dueInSeconds).toEqual([]);
  });

  test('a stop ends a wait, and has no effect on an unknown run', async () => {
    const { scheduler, clock } = testScheduler();
    await scheduler.stop(input, 'cancelled');
    await scheduler.start(input);
    await settle();
    await scheduler.stop(input, 'cancelled');
    await settle();
    expect(clock.dueInSeconds).toEqual([]);
  });
});

describe('closing', () => {
  test('closing aborts tasks and waits for them, at most ten seconds', async () => {
    let ended = false;
    const { tasks } = recorded(1, async (call, _, signal) => {
      if (call !== 'capture 1') return;
      await untilAborted(signal).catch(settle);
      ended = true;
    });
    const { scheduler, clock } = testScheduler({ tasks });
    await scheduler.start(input);
    await clock.advance(10);
    await scheduler.close();
    expect(ended).toBe(true);
    expect(clock.dueInSeconds).toEqual([]);

    const stuck = testScheduler({ tasks: scriptedRun(1, () => new Promise(() => {})) });
    await stuck.scheduler.start(input);
    let closed = false;
    const closing = stuck.scheduler.close().then(() => (closed = true));
    await stuck.clock.advance(9);
    expect(closed).toBe(false);
    await stuck.clock.advance(1);
    await closing;
  });

  test('a run that starts after the close is left to the next process', async () => {
    const { calls, tasks } = recorded(1);
    const { scheduler } = testScheduler({ tasks });
    await scheduler.close();
    expect(await scheduler.start(input)).toBe('started');
    await settle();
    expect(calls).toEqual([]);
  });
});

describe('the motion reference', () => {
  /** A run whose record has no motion reference, on a source of its own for each `stream`. */
  function forgetful(given: (string | null)[], stream = 1): RunTasks {
    const tasks = scriptedRun(3);
    const sourceId = executionInput(stream).run_id;
    return {
      capture: async (capture, signal) => {
        given.push(capture.motion);
        return tasks.capture(capture, signal);
      },
      analyze: async (request, signal) => {
        const step = await tasks.analyze(request, signal);
        if (!('capture' in step)) return step;
        const motion = request.operation === 'begin' ? null : 'reference';
        return { ...step, capture: { ...step.capture, source_id: sourceId, motion } };
      },
    };
  }

  test.each([
    ['continues with it', input, 1, 'reference'],
    ['of a newer generation begins without it', { ...input, generation: 1 }, 1, null],
    ['of another stream begins without it', input, 2, null],
  ])('the next process of a run %s', async (_, execution, stream, expected) => {
    const { scheduler, clock, database } = testScheduler({ tasks: forgetful([]) });
    await scheduler.start(input);
    await clock.advance(10);
    await scheduler.close();
    const given: (string | null)[] = [];
    const next = testScheduler({
      database,
      tasks: forgetful(given, stream),
      unfinished: [execution],
      clock: new FakeClock(clock.now()),
    });
    await next.scheduler.resume();
    await next.clock.advance(10);
    expect(given[0]).toBe(expected);
  });

  test('a motion reference that cannot be stored is logged, and the run continues', async () => {
    const { calls, tasks } = recorded(2);
    const { scheduler, clock, database, log } = testScheduler({ tasks });
    database.exec('PRAGMA query_only = ON');
    await scheduler.start(input);
    await clock.advance(20);
    expect(calls.at(-1)).toBe('analyze 2');
    expect(log.entries.map(({ message }) => message)).toEqual(['[JOB:00000000] Motion reference not stored']);
  });

  test('motion references that are older than the time are removed', async () => {
    const { scheduler, clock, motionReferences } = testScheduler({ tasks: scriptedRun(2) });
    await scheduler.start(input);
    await clock.advance(10);
    expect(motionReferences.prune(addSeconds(startOfTest, 10))).toBe(0);
    expect(motionReferences.prune(addSeconds(startOfTest, 11))).toBe(1);
  });
});
