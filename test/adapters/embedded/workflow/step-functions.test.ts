import { type ExecutionError, StateMachine } from '../../../step-functions/interpreter.ts';
import { describe, expect, test } from 'vitest';
import { type Json, toJson } from '../../../../adapters/embedded/workflow/json.ts';
import { executionName } from '../../../../core/records/workflow.ts';
import { errorNamed, executionInput, scriptedJob, watch } from './scripted-job.ts';
import { testEngine } from './test-engine.ts';

const input = executionInput();

type Run = { trace: { state: string; input: unknown }[]; calls: string[]; end: unknown };
/** Creates a new script per run, because `before` counts calls. */
type Script = () => { ticks: number; before: (call: string) => void };

async function runHere(script: Script): Promise<Run> {
  const calls: string[] = [];
  const { ticks, before } = script();
  const { engine, clock, transitions, store } = testEngine({
    resources: scriptedJob(ticks, (call) => {
      calls.push(call);
      before(call);
    }),
  });
  await engine.start(input);
  await clock.advance(600);
  const ending = store.find(executionName(input))?.progress;
  if (ending === undefined || ending.status === 'running') throw new Error('The execution did not end');
  return {
    trace: transitions.map(({ state, input: given }) => ({ state, input: given })),
    calls,
    end:
      ending.status === 'succeeded' ? { output: ending.data } : { error: ending.error, cause: ending.cause },
  };
}

async function runOnLocalStepFunctions(script: Script): Promise<Run> {
  const calls: string[] = [];
  const { ticks, before } = script();
  const { AnalyzeFunctionArn: analyze, CaptureFunctionArn: capture } = scriptedJob(ticks, (call) => {
    calls.push(call);
    before(call);
  });
  const { signal } = new AbortController();
  const handler =
    (run: typeof analyze) =>
    async (given: unknown): Promise<Json> =>
      toJson(await run(given, signal));
  const execution = stateMachine(watch).run(input, {
    overrides: {
      taskResourceLocalHandlers: {
        Begin: handler(analyze),
        Capture: handler(capture),
        Analyze: handler(analyze),
        Close: handler(analyze),
      },
      waitTimeOverrides: { Pause: 0 },
      retryIntervalOverrides: { Begin: 0, Capture: 0, Analyze: 0, Close: 0 },
    },
  });
  const end = execution.result.then(
    (output) => ({ output }),
    (failure: ExecutionError) => {
      if (!(failure.cause instanceof Error)) throw failure;
      return { error: failure.cause.name, cause: failure.cause.message };
    },
  );
  const trace: Run['trace'] = [];
  for await (const event of execution.eventLogs) {
    if (event.type === 'StateEntered') trace.push({ state: event.state.name, input: event.state.input });
  }
  return { trace, calls, end: await end };
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

const transient = errorNamed('Lambda.ServiceException');

describe('watch.asl.json', () => {
  test.each<[string, Script, string]>([
    ['runs three ticks and is done', failing('', 0, transient), 'Finished'],
    ['is done at its begin', failing('', 0, transient, 0), 'Finished'],
    ['heals by a retry of Begin', failing('begin', 2, transient), 'Finished'],
    ['heals by retries of Capture', failing('capture 2', 6, transient), 'Finished'],
    ['heals by a retry of Analyze', failing('analyze 3', 1, transient), 'Finished'],
    ['uses up its retries of Begin', failing('begin', 7, transient), 'Failed'],
    ['uses up its retries of Capture', failing('capture 2', 7, transient), 'Failed'],
    [
      'meets an error of Analyze that is not retried',
      failing('analyze 2', 1, new RangeError('far')),
      'Failed',
    ],
    [
      'closes a failed job by retries of Close',
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
  ])(
    'the script "%s" runs as on Step Functions, with the same inputs, calls and end',
    async (_, script, last) => {
      const here = await runHere(script);
      expect(here).toEqual(await runOnLocalStepFunctions(script));
      expect(here.trace.at(-1)?.state).toBe(last);
    },
  );

  test('the definition passes asl-validator, which aws-local-stepfunctions uses', () => {
    expect(() => stateMachine(watch)).not.toThrow();
    const { Finished: _, ...States } = watch.States;
    expect(() => stateMachine({ ...watch, States })).toThrow('Finished');
  });
});
