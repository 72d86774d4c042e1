import { describe, expect, test } from 'vitest';
import { loadWorkflow } from '../../../../adapters/embedded/workflow/definition.ts';
import type { Json } from '../../../../adapters/embedded/workflow/json.ts';
import type { Position } from '../../../../adapters/embedded/workflow/progress.ts';
import {
  abortExecution,
  applyTaskOutcome,
  startExecution,
  nextAction,
  type TaskOutcome,
} from '../../../../adapters/embedded/workflow/transition.ts';
import { startOfTest as now } from './fake-clock.ts';

const last = { Last: { Type: 'Succeed' } };

function createWorkflow(states: Record<string, object>) {
  return loadWorkflow(
    { StartAt: 'First', States: { First: { Type: 'Task', Resource: '${Work}', Next: 'Last' }, ...states } },
    ['Work'],
  );
}

function taskWorkflow(fields: object) {
  const First = { Type: 'Task', Resource: '${Work}', Next: 'Last', ...fields };
  return createWorkflow({ First, ...last });
}

function at(state: string, data: Json): Position {
  return { status: 'running', state, data, attempts: [], since: now, wakeAt: null };
}

function payload(fields: object, input: Json) {
  const action = nextAction(taskWorkflow(fields), at('First', input), now);
  return action.kind === 'run' ? action.payload : action;
}

function after(fields: object, input: Json, outcome: TaskOutcome) {
  return applyTaskOutcome(taskWorkflow(fields), at('First', input), outcome, now, () => 0.5);
}

const result = (value: Json): TaskOutcome => ({ kind: 'result', result: value });
const failure: TaskOutcome = { kind: 'failure', error: 'E', cause: 'why' };

describe('the input of a task', () => {
  test.each<[string, object, Json]>([
    ['is that of the state', {}, { a: { b: 1 } }],
    ['goes through InputPath', { InputPath: '$.a' }, { b: 1 }],
    ['is made of Parameters', { Parameters: { 'c.$': '$.a' } }, { c: { b: 1 } }],
    ['is made of Parameters after InputPath', { InputPath: '$.a', Parameters: { 'c.$': '$.b' } }, { c: 1 }],
  ])('the input of a task %s', (_, fields, expected) => {
    expect(payload(fields, { a: { b: 1 } })).toEqual(expected);
  });

  test('a missing input path ends the execution without Retry or Catch', () => {
    const Retry = [{ ErrorEquals: ['States.ALL'] }];
    const Catch = [{ ErrorEquals: ['States.ALL'], Next: 'Last' }];
    expect(payload({ InputPath: '$.x', Retry, Catch }, {})).toMatchObject({
      kind: 'move',
      move: {
        entered: false,
        progress: {
          status: 'failed',
          state: 'First',
          error: 'States.Runtime',
          cause: "Nothing is at $.x in the state's input",
        },
      },
    });
  });
});

describe('the output of a task', () => {
  test.each<[string, object, Json]>([
    ['is its result', {}, { r: 1 }],
    ['is its input with the result at ResultPath', { ResultPath: '$.x.y' }, { a: 1, x: { y: { r: 1 } } }],
  ])('the output of a task %s', (_, fields, expected) => {
    expect(after(fields, { a: 1 }, result({ r: 1 })).progress.data).toEqual(expected);
  });

  test('a result that does not fit ResultPath is an error that can be caught', () => {
    const Catch = [{ ErrorEquals: ['States.ALL'], Next: 'Last' }];
    const move = after({ ResultPath: '$.a.b', Catch }, { a: 1 }, result(1));
    expect(move).toMatchObject({
      entered: true,
      progress: { state: 'Last', data: { Error: 'States.ResultPathMatchFailure' } },
    });
  });

  test('the output is limited to 256 KiB, as in Step Functions', () => {
    const Catch = [{ ErrorEquals: ['States.ALL'], Next: 'Last' }];
    const fits = 'x'.repeat(262_144 - 2);
    expect(after({ Catch }, {}, result(fits)).progress.status).toBe('succeeded');
    expect(after({ Catch }, {}, result(`${fits}x`)).progress).toMatchObject({
      status: 'failed',
      error: 'States.DataLimitExceeded',
      data: {},
    });
  });
});

describe('a failed task', () => {
  test('a retried task stays in its state and wakes later', () => {
    const move = after({ Retry: [{ ErrorEquals: ['E'], IntervalSeconds: 3 }] }, { a: 1 }, failure);
    expect(move).toEqual({
      entered: false,
      progress: { ...at('First', { a: 1 }), attempts: [1], wakeAt: new Date(now.getTime() + 3000) },
    });
  });

  test('a caught task continues with the error at ResultPath', () => {
    const Catch = [{ ErrorEquals: ['E'], ResultPath: '$.failure', Next: 'Last' }];
    expect(after({ Catch }, { a: 1 }, failure).progress.data).toEqual({
      a: 1,
      failure: { Error: 'E', Cause: 'why' },
    });
  });

  test('a caught task without ResultPath continues with the error alone', () => {
    expect(after({ Catch: [{ ErrorEquals: ['E'], Next: 'Last' }] }, { a: 1 }, failure).progress.data).toEqual(
      { Error: 'E', Cause: 'why' },
    );
  });

  test('an unhandled failure fails the execution with its error', () => {
    expect(after({}, { a: 1 }, failure).progress).toEqual({
      status: 'failed',
      state: 'First',
      data: { a: 1 },
      error: 'E',
      cause: 'why',
      stoppedAt: now,
    });
  });

  test('the retry count restarts when the state is entered again', () => {
    const workflow = taskWorkflow({
      Next: 'First',
      Retry: [{ ErrorEquals: ['E'], MaxAttempts: 1 }],
      Catch: [{ ErrorEquals: ['X'], Next: 'Last' }],
    });
    const again = applyTaskOutcome(
      workflow,
      { ...at('First', {}), attempts: [1] },
      result({}),
      now,
      () => 0,
    ).progress;
    expect(again).toMatchObject({ state: 'First', attempts: [] });
  });
});

describe('other states', () => {
  test('a Choice without its variable fails the execution', () => {
    const rule = { Variable: '$.x', BooleanEquals: true, Next: 'Last' };
    const workflow = createWorkflow({
      First: { Type: 'Choice', Choices: [rule], Default: 'Last' },
      ...last,
    });
    expect(nextAction(workflow, at('First', {}), now)).toMatchObject({
      move: { progress: { error: 'States.Runtime' } },
    });
  });

  test('a Fail state ends the execution with its error and cause', () => {
    const workflow = createWorkflow({ First: { Type: 'Fail', Error: 'Broken', Cause: 'It broke.' } });
    expect(startExecution(workflow, { a: 1 }, now)).toEqual({
      entered: true,
      progress: {
        status: 'failed',
        state: 'First',
        data: { a: 1 },
        error: 'Broken',
        cause: 'It broke.',
        stoppedAt: now,
      },
    });
  });

  test('a stored state that the definition removed fails the execution', () => {
    const workflow = taskWorkflow({});
    const failed = {
      progress: {
        status: 'failed',
        state: 'Gone',
        error: 'States.Runtime',
        cause: 'The workflow has no state "Gone"',
      },
    };
    expect(nextAction(workflow, at('Gone', {}), now)).toMatchObject({ move: failed });
    expect(applyTaskOutcome(workflow, at('Gone', {}), result({}), now, () => 0)).toMatchObject(failed);
  });

  test('a stopped execution keeps its state', () => {
    expect(abortExecution(at('First', { a: 1 }), 'cancelled', now).progress).toMatchObject({
      status: 'aborted',
      state: 'First',
      data: { a: 1 },
      cause: 'cancelled',
      stoppedAt: now,
    });
  });
});
