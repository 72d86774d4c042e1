import { type ExecutionError, StateMachine } from '../../step-functions/interpreter.ts';
import { describe, expect, test } from 'vitest';
import { createBurstDefinition } from '../../../adapters/aws/bursts.ts';
import { analyzeInputSchema } from '../../../core/records/workflow.ts';
import { rules } from '../../../core/rules.ts';
import bursts from '../../../lib/workflow/bursts.asl.json' with { type: 'json' };
import definition from '../../../lib/workflow/run.asl.json' with { type: 'json' };
import { executionInput } from '../../support/scripted-run.ts';

const input = executionInput();

const firstState = {
  ...input,
  done: false,
  over: false,
  rests: false,
  burst: 1,
  next_burst_at: '2026-01-01T00:00:00.000Z',
  wait_until: '2026-01-01T00:00:00.000Z',
  capture: { tick: 1 },
};
/** Time of each entered state: the interpreter has no clock. */
const cutAt = '2026-01-01T00:01:00.000Z';
/** State that Analyze returns at the end of a burst, or Begin. */
const state = (tick: number, fields: Partial<typeof firstState> = {}) => ({
  ...firstState,
  ...fields,
  capture: { tick },
});
type Call = { state: string; input: any };
type BurstResult = { Status: string; Output?: string; ExecutionArn: string };

/** Runs the definition of a job's execution with scripted bursts, on aws-local-stepfunctions. */
async function runJob(burst: (number: number) => BurstResult, begin: (number: number) => typeof firstState) {
  const calls: Call[] = [];
  const counts = { Begin: 0, Burst: 0 };
  const record = (name: string, given: unknown) => calls.push({ state: name, input: given });
  const execution = copy(bursts).run(input, {
    context: { Execution: { StartTime: firstState.wait_until }, State: { EnteredTime: cutAt } },
    overrides: {
      taskResourceLocalHandlers: {
        Begin: async (given: unknown) => {
          record('Begin', given);
          counts.Begin += 1;
          return begin(counts.Begin);
        },
        Burst: async (given: unknown) => {
          record('Burst', given);
          counts.Burst += 1;
          return burst(counts.Burst);
        },
        Close: async (given: unknown) => {
          record('Close', given);
          return { run_id: input.run_id, done: true };
        },
      },
      waitTimeOverrides: { 'Back off': 0, Rest: 0 },
      retryIntervalOverrides: { Begin: 0, Close: 0 },
    },
  });
  const entered: string[] = [];
  const end = execution.result.then(
    () => 'succeeded',
    (failure: ExecutionError) => (failure.cause instanceof Error ? failure.cause.name : 'unknown'),
  );
  for await (const event of execution.eventLogs) {
    if (event.type === 'StateEntered') entered.push(event.state.name);
  }
  return { calls, entered, end: await end };
}

const succeeded = (output: object): BurstResult => ({
  Status: 'SUCCEEDED',
  Output: JSON.stringify(output),
  ExecutionArn: 'arn:burst',
});

describe('an execution of a job in bursts', () => {
  test('an execution hands the state of each burst to the next one, with four transitions per burst', async () => {
    const { calls, entered, end } = await runJob(
      (number) => succeeded(state(number + 1, { over: number === 3, done: true })),
      () => state(1),
    );

    expect(end).toBe('succeeded');
    const states = calls.filter(({ state: name }) => name === 'Burst');
    expect(states.map(({ input: given }) => JSON.parse(given.Input).capture.tick)).toEqual([1, 2, 3]);
    const loop = ['Burst', 'Failed early?', 'Continue', 'Over?'];
    expect(entered).toEqual(['Start', 'Begin', 'Over?', ...loop, ...loop, ...loop, 'Finished']);
  });

  test('an execution rests between two bursts if the state requires it', async () => {
    const { entered } = await runJob(
      (number) => succeeded(state(2, { rests: number === 1, over: number === 2 })),
      () => state(1),
    );
    expect(entered.filter((name) => name === 'Rest')).toHaveLength(1);
  });

  test('an execution of an ended job starts no burst', async () => {
    const { entered } = await runJob(
      () => succeeded({}),
      () => state(1, { over: true }),
    );
    expect(entered).toEqual(['Start', 'Begin', 'Over?', 'Finished']);
  });

  test.each(['FAILED', 'TIMED_OUT'])('a burst that ends as %s is followed by Begin', async (status) => {
    const { calls, end } = await runJob(
      (number) =>
        number === 1 ? { Status: status, ExecutionArn: 'arn:burst' } : succeeded(state(2, { over: true })),
      (number) => state(1, { burst: number }),
    );

    expect(end).toBe('succeeded');
    expect(calls.map(({ state: name }) => name)).toEqual(['Begin', 'Burst', 'Begin', 'Burst']);
    expect(JSON.parse(calls[3]?.input.Input)).toMatchObject({ burst: 2 });
  });

  test('a call that fails counts like a failed burst', async () => {
    const { calls, end } = await runJob(
      (number) => {
        if (number === 1) throw Object.assign(new Error('slow down'), { name: 'Sfn.ThrottlingException' });
        return succeeded(state(2, { over: true }));
      },
      () => state(1),
    );
    expect(end).toBe('succeeded');
    expect(calls.map(({ state: name }) => name)).toEqual(['Begin', 'Burst', 'Begin', 'Burst']);
    const [first, , second] = calls.map(({ input: given }) => analyzeInputSchema.safeParse(given).data);
    expect(first).toMatchObject({ operation: 'begin', failure: { Error: 'None' } });
    expect(second).toMatchObject({
      operation: 'begin',
      failure: { Error: 'Burst.CUT', began_at: firstState.next_burst_at, ended_at: cutAt },
    });
  });

  test('a failed Begin is repeated without the times of a burst', async () => {
    const { calls, end } = await runJob(
      () => succeeded(state(2, { over: true })),
      (number) => {
        if (number === 1) throw Object.assign(new Error('no'), { name: 'Lambda.Unknown' });
        return state(1);
      },
    );
    expect(end).toBe('succeeded');
    expect(calls[1]?.input.failure).toEqual({ Error: 'Lambda.Unknown', Cause: 'no' });
  });

  test('eight failures in a row close the job, with the last error', async () => {
    const { calls, end } = await runJob(
      () => ({ Status: 'FAILED', ExecutionArn: 'arn:burst' }),
      () => state(1),
    );

    expect(end).toBe('WatchFailed');
    expect(calls.filter(({ state: name }) => name === 'Burst')).toHaveLength(8);
    expect(calls.at(-1)).toMatchObject({
      state: 'Close',
      input: { operation: 'close', failure: { Error: 'Burst.FAILED' } },
    });
    expect(analyzeInputSchema.safeParse(calls.at(-1)?.input).error).toBeUndefined();
  });

  test('a successful burst resets the count of failures', async () => {
    const { end } = await runJob(
      (number) => {
        if (number > 24) return succeeded(state(2, { over: true }));
        return number % 7 === 0 ? succeeded(state(2)) : { Status: 'FAILED', ExecutionArn: 'arn:burst' };
      },
      () => state(1),
    );
    expect(end).toBe('succeeded');
  });
});

describe('the definition of a burst', () => {
  const burst: any = createBurstDefinition(definition, 240);

  test('a burst is the loop of run.asl.json, beginning with the wait for the planned tick', () => {
    expect(burst.StartAt).toBe('Pause');
    expect(Object.keys(burst.States)).toEqual(['Capture', 'Analyze', 'Done?', 'Pause', 'Finished']);
    for (const name of ['Done?', 'Pause'] as const)
      expect(burst.States[name]).toEqual(definition.States[name]);
    for (const name of ['Capture', 'Analyze'] as const) {
      const { Retry: _r, Catch: _c, Parameters: _p, ...same } = definition.States[name] as any;
      expect(burst.States[name]).toMatchObject(same);
    }
  });

  test('a burst passes its number and its start to Analyze, and ends when Analyze says so', async () => {
    const given: any[] = [];
    const execution = copy(burst).run(state(1), {
      overrides: {
        taskResourceLocalHandlers: {
          Capture: async () => ({ kind: 'not_captured' }),
          Analyze: async (request: any) => {
            given.push(request);
            return state(given.length + 1, { done: given.length === 3 });
          },
        },
      },
    });
    expect(await execution.result).toMatchObject({ done: true, burst: 1 });
    expect(given).toHaveLength(3);
    expect(given[0]).toMatchObject({
      burst: 1,
      burst_seconds: 240,
    });
    expect(Date.parse(given[0].burst_started_at)).toBeGreaterThan(0);
  });

  test('the retries of a task in a burst take less than a burst', () => {
    for (const name of ['Capture', 'Analyze']) {
      const delays = burst.States[name].Retry.map(sumOfDelays);
      expect(Math.max(...delays)).toBeLessThan(rules.burstTimeoutSeconds - 240);
      expect(burst.States[name].Catch).toBeUndefined();
    }
  });
});

test('all failures of bursts in a row take less than the maximum silence of a job', () => {
  const { Begin, Burst, 'Give up?': giveUp } = bursts.States;
  const maxFailures = giveUp.Choices[0]!.NumericGreaterThanEquals;
  const begin = Begin.Retry.reduce(
    (sum, each) => sum + each.MaxAttempts * Begin.TimeoutSeconds + sumOfDelays(each),
    Begin.TimeoutSeconds,
  );
  const pauses = Array.from(
    { length: maxFailures - 1 },
    (_, time) => bursts.States.Start.Parameters.max_pause * 2 ** (time + 1),
  );
  const total = maxFailures * (begin + Burst.TimeoutSeconds) + pauses.reduce((sum, each) => sum + each, 0);
  expect(total + rules.leaseMarginSeconds).toBeLessThan(rules.maxTickSeconds);
});

describe('the history of an execution', () => {
  /** History events of a Lambda task per attempt (scheduled, started, ended), and of each state (entered, exited). */
  const perAttempt = 3;
  const perState = 2;
  const maxEvents = 25_000;
  const attempts = (task: { Retry: { MaxAttempts: number }[] }) =>
    1 + task.Retry.reduce((sum, { MaxAttempts }) => sum + MaxAttempts, 0);

  test('the history of a generation stays below its limit with every retry of every tick used', () => {
    const { Begin, Capture, Analyze } = definition.States;
    const tick = perAttempt * (attempts(Capture) + attempts(Analyze)) + 4 * perState;
    expect(tick).toBe(302);
    const total = rules.ticksPerExecution * tick + perAttempt * attempts(Begin) + 3 * perState;
    expect(total).toBeLessThan(0.8 * maxEvents);
  });

  test('the history of a generation in bursts stays below its limit with one tick per burst and all failures', () => {
    const burst = perAttempt + 5 * perState;
    const failure = burst + 4 * perState + perAttempt * attempts(bursts.States.Begin) + 2 * perState;
    const begins = rules.beginsPerExecution + bursts.States['Give up?'].Choices[0]!.NumericGreaterThanEquals;
    expect(rules.ticksPerExecution * burst + begins * failure).toBeLessThan(0.5 * maxEvents);
  });

  test('the ticks of a generation end before the timeout of its execution', () => {
    const maxIntervalSeconds = 300;
    const seconds = rules.ticksPerExecution * maxIntervalSeconds + rules.maxTickSeconds;
    expect(seconds).toBeLessThan(rules.executionTimeoutSeconds / 2);
    // A watch waits for its schedule at the begin of a generation, and hands over before any other long wait.
    const waits = rules.maxWatchWaitSeconds + rules.ticksPerExecution * rules.handOverWaitSeconds;
    expect(waits + rules.maxTickSeconds).toBeLessThan(rules.executionTimeoutSeconds);
  });
});

function sumOfDelays(retrier: { [field: string]: any }): number {
  const { MaxAttempts, IntervalSeconds, BackoffRate, MaxDelaySeconds = Infinity } = retrier;
  return Array.from({ length: MaxAttempts }, (_, used) =>
    Math.min(IntervalSeconds * BackoffRate ** used, MaxDelaySeconds),
  ).reduce((sum, delay) => sum + delay, 0);
}

/** Copies the definition, because the validator adds `QueryLanguage` to its argument. */
function copy(definition: unknown): StateMachine {
  return new StateMachine(JSON.parse(JSON.stringify(definition)));
}
