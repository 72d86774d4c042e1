import { expect, test } from 'vitest';
import type { RunTasks } from '../../../adapters/embedded/scheduler/tick-loop.ts';
import { taskLimits } from '../../../core/workflow/task-limits.ts';
import definition from '../../../lib/workflow/run.asl.json' with { type: 'json' };
import { StateMachine } from '../../step-functions/interpreter.ts';
import { errorNamed, executionInput, scriptedRun } from '../../support/scripted-run.ts';
import { testScheduler } from '../embedded/scheduler/test-scheduler.ts';

const input = executionInput();

type Call = { call: string; input: unknown };
/** Creates a new script per run, because `before` counts calls. */
type Script = () => { ticks: number; before: (call: string) => void };

function record(script: Script): { tasks: RunTasks; calls: Call[] } {
  const calls: Call[] = [];
  const { ticks, before } = script();
  const tasks = scriptedRun(ticks, (call, given) => {
    calls.push({ call, input: JSON.parse(JSON.stringify(given)) });
    before(call);
  });
  return { tasks, calls };
}

async function runHere(script: Script): Promise<Call[]> {
  const { tasks, calls } = record(script);
  const { scheduler, clock } = testScheduler({ tasks });
  await scheduler.start(input);
  await clock.advance(600);
  expect(await scheduler.status(input)).toBeUndefined();
  return calls;
}

async function runOnLocalStepFunctions(script: Script): Promise<{ calls: Call[]; last: string }> {
  const { tasks, calls } = record(script);
  const { signal } = new AbortController();
  const analyze = (given: any) => tasks.analyze(given, signal);
  const execution = stateMachine(definition).run(input, {
    overrides: {
      taskResourceLocalHandlers: {
        Begin: analyze,
        Capture: (given: any) => tasks.capture(given, signal),
        Analyze: analyze,
        Close: analyze,
      },
      waitTimeOverrides: { Pause: 0 },
      retryIntervalOverrides: { Begin: 0, Capture: 0, Analyze: 0, Close: 0 },
    },
  });
  const end = execution.result.catch(() => undefined);
  let last = '';
  for await (const event of execution.eventLogs) if (event.type === 'StateEntered') last = event.state.name;
  await end;
  return { calls, last };
}

/** Copies the definition, because the validator adds `QueryLanguage` to its argument. */
function stateMachine(definition: unknown): StateMachine {
  return new StateMachine(JSON.parse(JSON.stringify(definition)));
}

/** Fails the first calls of one name. */
function failing(name: string, times: number, error: Error, ticks = 3): Script {
  return () => {
    let left = times;
    return {
      ticks,
      before(call) {
        if (call === name && left-- > 0) throw error;
      },
    };
  };
}

const timeout = errorNamed('States.Timeout');
const transient = errorNamed('TransientError');

test.each<[string, Script, string]>([
  ['runs three ticks and is done', failing('', 0, timeout), 'Finished'],
  ['is done at its begin', failing('', 0, timeout, 0), 'Finished'],
  ['heals by a repetition of Begin', failing('begin', 2, timeout), 'Finished'],
  ['heals by repetitions of Capture', failing('capture 2', 6, timeout), 'Finished'],
  ['heals by repetitions of Analyze', failing('analyze 3', 20, transient), 'Finished'],
  ['uses up its repetitions of Begin', failing('begin', 7, timeout), 'Failed'],
  ['uses up its repetitions of Capture', failing('capture 2', 7, timeout), 'Failed'],
  ['uses up its repetitions of Analyze', failing('analyze 3', 21, transient), 'Failed'],
  ['meets an error that is not repeated', failing('analyze 2', 1, new RangeError('far')), 'Failed'],
  [
    'closes a failed run by repetitions of Close',
    () => {
      const close = failing('close', 3, new TypeError('odd'))();
      return {
        ticks: 1,
        before: (call) => {
          if (call === 'analyze 1') throw errorNamed('Broken', 'It broke.');
          close.before(call);
        },
      };
    },
    'Failed',
  ],
])('a run that %s makes the same calls on one machine and on Step Functions', async (_, script, last) => {
  const there = await runOnLocalStepFunctions(script);
  expect(there.last).toBe(last);
  expect(await runHere(script)).toEqual(there.calls);
});

test('the limits of its tasks are those of the table that one machine uses', () => {
  const { Begin: begin, Capture: capture, Analyze: analyze, Close: close } = definition.States;
  const limits = Object.entries({ begin, capture, analyze, close }).map(([name, task]) => [
    name,
    { timeoutSeconds: task.TimeoutSeconds, retries: task.Retry.map(toRule) },
  ]);
  expect(Object.fromEntries(limits)).toEqual(taskLimits);
});

test('the definition passes asl-validator, which aws-local-stepfunctions uses', () => {
  expect(() => stateMachine(definition)).not.toThrow();
  const { Finished: _, ...States } = definition.States;
  expect(() => stateMachine({ ...definition, States })).toThrow('Finished');
});

type Retrier = (typeof definition.States)['Capture' | 'Close']['Retry'][number];

function toRule(retrier: Retrier) {
  return {
    errors: retrier.ErrorEquals,
    intervalSeconds: retrier.IntervalSeconds,
    backoffRate: retrier.BackoffRate,
    ...('MaxDelaySeconds' in retrier && { maxDelaySeconds: retrier.MaxDelaySeconds }),
    maxAttempts: retrier.MaxAttempts,
    jitter: 'JitterStrategy' in retrier && retrier.JitterStrategy === 'FULL',
  };
}
