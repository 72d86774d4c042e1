import { describe, expect, test } from 'vitest';
import { WorkflowDefinitionError } from '../../../../adapters/embedded/workflow/definition-error.ts';
import { executionName } from '../../../../core/records/workflow.ts';
import { type StoredExecution } from '../../../../adapters/embedded/workflow/execution-store.ts';
import { settle } from './fake-clock.ts';
import { errorNamed, executionInput, scriptedJob, listStates } from './scripted-job.ts';
import { openStore, testEngine } from './test-engine.ts';

const input = executionInput();
const name = executionName(input);

/** Task that ends when its signal aborts. */
const untilAborted = (signal: AbortSignal) =>
  new Promise<never>((_, reject) => {
    signal.addEventListener('abort', () => reject(errorNamed('AbortError')));
  });

const taskNamed = (name: string) => ({
  StartAt: name,
  States: {
    [name]: { Type: 'Task', Resource: '${CaptureFunctionArn}', Next: 'Finished' },
    Finished: { Type: 'Succeed' },
  },
});

describe('an execution', () => {
  test('an execution runs from start to end with a tick every ten seconds', async () => {
    const { engine, clock, states, store } = testEngine({ resources: scriptedJob(2) });
    expect(await engine.status(input)).toBeUndefined();
    expect(await engine.start(input)).toBe('started');
    await settle();
    expect(states()).toEqual(['Begin', 'Done?', 'Pause']);
    expect(await engine.status(input)).toBe('running');
    await clock.advance(9);
    expect(states()).toHaveLength(3);
    await clock.advance(1);
    expect(states()).toEqual(['Begin', 'Done?', 'Pause', 'Capture', 'Analyze', 'Done?', 'Pause']);
    await clock.advance(10);
    expect(states()).toEqual(listStates(2));
    expect(await engine.status(input)).toBe('succeeded');
    expect(store.find(name)?.progress).toMatchObject({
      status: 'succeeded',
      state: 'Finished',
      data: { done: true },
    });
    expect(clock.dueInSeconds).toEqual([]);
  });

  test('an execution receives job_id and generation and no other input', async () => {
    const { engine, transitions } = testEngine();
    const more = { ...input, secret: 'x' };
    await engine.start(more);
    expect(transitions[0]).toEqual({ execution: name, state: 'Begin', input });
  });

  test('an execution starts once: its name stays taken while it runs and after its end', async () => {
    const calls: string[] = [];
    const { engine, clock } = testEngine({ resources: scriptedJob(1, (call) => calls.push(call)) });
    await engine.start(input);
    expect(await engine.start(input)).toBe('already');
    await clock.advance(60);
    expect(await engine.start(input)).toBe('already');
    await settle();
    expect(calls).toEqual(['begin', 'capture 1', 'analyze 1']);
    expect(await engine.start(executionInput(1, 1))).toBe('started');
  });

  test('an execution runs beside hundreds of others', async () => {
    const { engine, clock, states } = testEngine({ resources: scriptedJob(2) });
    const inputs = Array.from({ length: 300 }, (_, i) => executionInput(i));
    await Promise.all(inputs.map((each) => engine.start(each)));
    await clock.advance(20);
    expect(new Set(await Promise.all(inputs.map((each) => engine.status(each))))).toEqual(
      new Set(['succeeded']),
    );
    expect(states()).toHaveLength(300 * listStates(2).length);
  });

  test('a task cannot change its input, and is retried with the same', async () => {
    const seen: unknown[] = [];
    const { engine, clock } = testEngine({
      resources: scriptedJob(1, (call, _, given) => {
        if (call !== 'capture 1') return;
        seen.push(structuredClone(given));
        expect(() => Object.assign(given ?? {}, { tick: 'spoilt' })).toThrow(TypeError);
        throw errorNamed('Lambda.ServiceException');
      }),
    });
    await engine.start(input);
    await clock.advance(11);
    expect(seen).toHaveLength(2);
    expect(seen[1]).toEqual(seen[0]);
  });
});

describe('a failing task', () => {
  test('a failing task is retried after its delay and then succeeds', async () => {
    const calls: string[] = [];
    const { engine, clock, states } = testEngine({
      resources: scriptedJob(1, (call) => {
        calls.push(call);
        if (call === 'begin' && calls.length <= 2) throw errorNamed('Lambda.ServiceException');
      }),
    });
    await engine.start(input);
    await settle();
    expect(clock.dueInSeconds).toEqual([0.5]);
    await clock.advance(0.5);
    expect(clock.dueInSeconds).toEqual([1]);
    await clock.advance(60);
    expect(calls).toEqual(['begin', 'begin', 'begin', 'capture 1', 'analyze 1']);
    expect(states()).toEqual(listStates(1));
  });

  test('a caught error closes the job and fails the execution', async () => {
    const inputs: unknown[] = [];
    const { engine, clock, states, store } = testEngine({
      resources: scriptedJob(1, (call, _, given) => {
        if (call === 'capture 1') throw errorNamed('Broken', 'It broke.');
        if (call === 'close') inputs.push(given);
      }),
    });
    await engine.start(input);
    await clock.advance(60);
    expect(states().slice(3)).toEqual(['Capture', 'Close', 'Failed']);
    expect(inputs).toEqual([
      { operation: 'close', ...input, failure: { Error: 'Broken', Cause: 'It broke.' } },
    ]);
    expect(store.find(name)?.progress).toMatchObject({ status: 'failed', error: 'WatchFailed' });
  });

  test.each<[string, unknown, { Error: string; Cause: string }]>([
    ['an error of a class', new RangeError('far'), { Error: 'RangeError', Cause: 'far' }],
    ['something that is no error', 'just text', { Error: 'Error', Cause: 'just text' }],
    ['an endless message', new Error('x'.repeat(300_000)), { Error: 'Error', Cause: 'x'.repeat(32_768) }],
  ])('a task that throws %s fails with its name and cause', async (_, thrown, failure) => {
    const { engine, clock, transitions } = testEngine({
      resources: scriptedJob(1, (call) => {
        if (call === 'capture 1') throw thrown;
      }),
    });
    await engine.start(input);
    await clock.advance(60);
    expect(transitions.find(({ state }) => state === 'Close')?.input).toMatchObject({ failure });
  });

  test('a task whose result is not JSON fails like any other', async () => {
    const resources = { ...scriptedJob(1), CaptureFunctionArn: async () => ({ tick: 1n }) };
    const { engine, clock, transitions } = testEngine({ resources });
    await engine.start(input);
    await clock.advance(60);
    expect(transitions.find(({ state }) => state === 'Close')?.input).toMatchObject({
      failure: { Error: 'TypeError' },
    });
  });

  test('a task that returns undefined has the result null', async () => {
    const resources = { ...scriptedJob(1), CaptureFunctionArn: async () => undefined };
    const { engine, clock, transitions } = testEngine({ resources });
    await engine.start(input);
    await clock.advance(10);
    expect(transitions.find(({ state }) => state === 'Analyze')?.input).toMatchObject({ captured: null });
  });
});

describe('a task that takes too long', () => {
  test('a task that times out is aborted and raises States.Timeout, which the definition retries', async () => {
    let aborted = 0;
    const { engine, clock, states } = testEngine({
      resources: scriptedJob(1, (call, signal) => {
        if (call !== 'capture 1' || aborted > 0) return undefined;
        signal.addEventListener('abort', () => aborted++);
        return untilAborted(signal);
      }),
    });
    await engine.start(input);
    await clock.advance(10);
    expect(clock.dueInSeconds).toEqual([60]);
    await clock.advance(59);
    expect(aborted).toBe(0);
    await clock.advance(1);
    expect(aborted).toBe(1);
    expect(clock.dueInSeconds).toEqual([0.5]);
    await clock.advance(1);
    expect(states()).toEqual(listStates(1));
  });

  test('a task that ignores its signal does not delay the execution, and its late result is dropped', async () => {
    const late = Promise.withResolvers<void>();
    let calls = 0;
    const { engine, clock, states } = testEngine({
      resources: scriptedJob(1, (call) => (call === 'begin' && calls++ === 0 ? late.promise : undefined)),
    });
    await engine.start(input);
    await clock.advance(61);
    expect(states()).toEqual(['Begin', 'Done?', 'Pause', 'Capture', 'Analyze', 'Done?', 'Finished']);
    late.resolve();
    await settle();
    expect(states()).toHaveLength(7);
  });
});

describe('stopping', () => {
  test('a stop aborts the task in flight and drops its late result', async () => {
    const late = Promise.withResolvers<void>();
    let reason: unknown;
    const { engine, clock, states, store } = testEngine({
      resources: scriptedJob(1, (call, signal) => {
        signal.addEventListener('abort', () => (reason = signal.reason));
        return call === 'capture 1' ? late.promise : undefined;
      }),
    });
    await engine.start(input);
    await clock.advance(10);
    await engine.stop(input, 'The job was cancelled');
    expect(await engine.status(input)).toBe('aborted');
    expect(reason).toMatchObject({ message: 'The execution was stopped' });
    late.resolve();
    await clock.advance(600);
    expect(states().at(-1)).toBe('Capture');
    expect(store.find(name)?.progress).toMatchObject({
      status: 'aborted',
      state: 'Capture',
      cause: 'The job was cancelled',
    });
    expect(clock.dueInSeconds).toEqual([]);
  });

  test('a stop ends a wait', async () => {
    const { engine, clock } = testEngine();
    await engine.start(input);
    await settle();
    await engine.stop(input, 'cancelled');
    expect(clock.dueInSeconds).toEqual([]);
    expect(await engine.status(input)).toBe('aborted');
  });

  test('a stop of an unknown, ended or stopped execution has no effect', async () => {
    const { engine, clock, store } = testEngine();
    await engine.stop(input, 'cancelled');
    expect(await engine.status(input)).toBeUndefined();
    await engine.start(input);
    await clock.advance(60);
    await engine.stop(input, 'cancelled');
    expect(await engine.status(input)).toBe('succeeded');
    expect(store.running()).toEqual([]);
  });

  test('a stop applies to an execution that this process has not resumed', async () => {
    const store = openStore();
    const before = testEngine({ store });
    await before.engine.start(input);
    await settle();
    await before.engine.close();
    const after = testEngine({ store });
    await after.engine.stop(input, 'cancelled');
    after.engine.resume();
    expect(await after.engine.status(input)).toBe('aborted');
    expect(after.clock.dueInSeconds).toEqual([]);
  });
});

describe('closing', () => {
  test('closing waits for the aborted tasks and keeps the execution for the next start', async () => {
    const store = openStore();
    let ended = false;
    const before = testEngine({
      store,
      resources: scriptedJob(1, async (call, signal) => {
        if (call !== 'capture 1') return;
        await untilAborted(signal).catch(settle);
        ended = true;
      }),
    });
    await before.engine.start(input);
    await before.clock.advance(10);
    await before.engine.close();
    expect(ended).toBe(true);
    expect(before.clock.dueInSeconds).toEqual([]);
    expect(store.find(name)?.progress).toMatchObject({ status: 'running', state: 'Pause', attempts: [] });

    const after = testEngine({ store, clock: before.clock });
    after.engine.resume();
    await after.clock.advance(0);
    expect(after.states()).toEqual(['Capture', 'Analyze', 'Done?', 'Finished']);
  });

  test('closing waits at most ten seconds for a task that ignores its signal', async () => {
    const { engine, clock } = testEngine({
      resources: scriptedJob(1, () => new Promise(() => {})),
    });
    await engine.start(input);
    let closed = false;
    const closing = engine.close().then(() => (closed = true));
    await clock.advance(9);
    expect(closed).toBe(false);
    await clock.advance(1);
    await closing;
    expect(clock.dueInSeconds).toEqual([]);
  });

  test('closing leaves an execution that is started afterwards to the next process', async () => {
    const store = openStore();
    const { engine, states } = testEngine({ store });
    await engine.close();
    expect(await engine.start(input)).toBe('started');
    await settle();
    expect(states()).toEqual(['Begin']);
    const next = testEngine({ store });
    next.engine.resume();
    await next.clock.advance(60);
    expect(await next.engine.status(input)).toBe('succeeded');
  });
});

describe('a start whose answer was lost', () => {
  test('a repeated start runs the execution whose first response was lost', async () => {
    const store = openStore();
    let lost = false;
    const unsure = {
      ...store,
      insert(execution: StoredExecution) {
        const stored = store.insert(execution);
        if (lost) return stored;
        lost = true;
        throw new Error('disk I/O error');
      },
    };
    const { engine, clock } = testEngine({ store: unsure });
    await expect(engine.start(input)).rejects.toThrow('disk I/O error');
    expect(await engine.start(input)).toBe('already');
    await clock.advance(60);
    expect(await engine.status(input)).toBe('succeeded');
  });
});

describe('resuming', () => {
  test('a resumed execution keeps the rest of a wait', async () => {
    const store = openStore();
    const before = testEngine({ store });
    await before.engine.start(input);
    await before.clock.advance(4);
    await before.engine.close();
    const after = testEngine({ store, clock: before.clock });
    after.engine.resume();
    expect(after.clock.dueInSeconds).toEqual([6]);
  });

  test('a resumed execution keeps its retry count and the rest of the delay', async () => {
    const store = openStore();
    const resources = scriptedJob(1, (call) => {
      if (call === 'capture 1') throw errorNamed('Lambda.ServiceException');
    });
    const before = testEngine({ store, resources });
    await before.engine.start(input);
    await before.clock.advance(10.5);
    expect(before.clock.dueInSeconds).toEqual([1]);
    await before.engine.close();
    const after = testEngine({ store, resources, clock: before.clock });
    after.engine.resume();
    expect(after.clock.dueInSeconds).toEqual([1]);
    await after.clock.advance(1);
    expect(after.clock.dueInSeconds).toEqual([2]);
  });

  test('a second resumption, or a start in between, runs nothing twice', async () => {
    const store = openStore();
    const before = testEngine({ store });
    await before.engine.start(input);
    await before.engine.close();
    const calls: string[] = [];
    const after = testEngine({ store, resources: scriptedJob(1, (call) => calls.push(call)) });
    expect(await after.engine.start(input)).toBe('already');
    after.engine.resume();
    after.engine.resume();
    await after.clock.advance(60);
    expect(calls).toEqual(['begin', 'capture 1', 'analyze 1']);
  });

  test('a resumption fails an execution whose state a newer definition removed, and continues the others', async () => {
    const store = openStore();
    const before = testEngine({ store, definition: taskNamed('Old') });
    await before.engine.start(input);
    await before.engine.close();
    const after = testEngine({ store, definition: taskNamed('New'), clock: before.clock });
    after.engine.resume();
    await after.clock.advance(5);
    expect(store.find(name)?.progress).toMatchObject({
      status: 'failed',
      cause: 'The workflow has no state "Old"',
    });
  });
});

describe('an engine', () => {
  test('an engine rejects an unsupported definition when it is created', () => {
    expect(() => testEngine({ resources: {} })).toThrow(WorkflowDefinitionError);
  });
});
