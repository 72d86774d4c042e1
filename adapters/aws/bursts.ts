import { z } from 'zod';
import { rules } from '../../core/rules.ts';

const retrierSchema = z.looseObject({ ErrorEquals: z.array(z.string()) });
const stateSchema = z.looseObject({ Type: z.string() });
const taskSchema = z.looseObject({
  Retry: z.array(retrierSchema),
  Parameters: z.record(z.string(), z.unknown()).optional(),
});
const definitionSchema = z.looseObject({
  StartAt: z.string(),
  States: z
    .record(z.string(), stateSchema)
    .and(z.object({ Capture: stateSchema, Analyze: stateSchema, Pause: stateSchema })),
});

/**
 * Retries of a task in a burst: some seconds, since a burst has five minutes. Its parent repeats a failed burst for
 * minutes.
 */
const burstRetries = [
  {
    ErrorEquals: [
      'Lambda.ServiceException',
      'Lambda.AWSLambdaException',
      'Lambda.SdkClientException',
      'Lambda.ClientExecutionTimeoutException',
    ],
    IntervalSeconds: 1,
    BackoffRate: 2,
    MaxAttempts: 3,
    JitterStrategy: 'FULL',
  },
  {
    ErrorEquals: ['TransientError'],
    IntervalSeconds: 1,
    BackoffRate: 2,
    MaxAttempts: 4,
    JitterStrategy: 'FULL',
  },
  {
    ErrorEquals: ['Lambda.TooManyRequestsException'],
    IntervalSeconds: 2,
    BackoffRate: 2,
    MaxDelaySeconds: 10,
    MaxAttempts: 5,
    JitterStrategy: 'FULL',
  },
  {
    ErrorEquals: ['Lambda.Unknown', 'Sandbox.Timedout', 'Runtime.ExitError', 'Runtime.OutOfMemory'],
    IntervalSeconds: 1,
    BackoffRate: 2,
    MaxAttempts: 1,
  },
] as const;

/**
 * Creates the definition of a burst (Express) from that of `lib/workflow/run.asl.json`: the loop alone, which begins
 * with the wait for the planned tick, retries for seconds and ends within five minutes. Begin, failures and the
 * hand-over are in `lib/workflow/bursts.asl.json`.
 */
export function createBurstDefinition(run: unknown, burstSeconds: number): object {
  const { States: states, ...definition } = definitionSchema.parse(run);
  const { Begin: _begin, Close: _close, Failed: _failed, ...loop } = states;
  const analyze = taskSchema.parse(states.Analyze);
  return {
    ...definition,
    Comment: 'Ticks of a job or a watch for some minutes. Derived from run.asl.json.',
    StartAt: 'Pause',
    TimeoutSeconds: rules.burstTimeoutSeconds,
    States: {
      ...loop,
      Capture: shorten(states.Capture),
      Analyze: {
        ...shorten(states.Analyze),
        Parameters: {
          ...analyze.Parameters,
          'burst.$': '$.burst',
          'burst_started_at.$': '$$.Execution.StartTime',
          burst_seconds: burstSeconds,
        },
      },
    },
  };
}

/** Replaces the retries of a task and removes its Catch: a failed burst is repeated by its parent. */
function shorten(state: z.infer<typeof stateSchema>): object {
  const { Catch: _, ...task } = taskSchema.parse(state);
  return { ...task, Retry: burstRetries };
}
