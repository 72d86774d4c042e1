/** Repetition of a task after certain errors. */
export type RetryRule = {
  /** Names of the errors; `States.ALL` stands for each. */
  errors: readonly string[];
  /** Delay before the first repetition, in seconds. */
  intervalSeconds: number;
  /** Factor of each further delay. */
  backoffRate: number;
  maxDelaySeconds?: number;
  /** Maximum repetitions, not counting the first attempt. */
  maxAttempts: number;
  /** True if a delay is random, up to its length. */
  jitter: boolean;
};

export type TaskLimits = {
  /** Duration of one attempt, in seconds. An attempt that takes longer fails with `States.Timeout`. */
  timeoutSeconds: number;
  /** The first rule with the name of an error decides. */
  retries: readonly RetryRule[];
};

export type TaskName = 'begin' | 'capture' | 'analyze' | 'close';

/** Rules of all tasks but `close`. Errors of Lambda occur on AWS only. */
const retries: readonly RetryRule[] = [
  {
    errors: [
      'Lambda.ServiceException',
      'Lambda.AWSLambdaException',
      'Lambda.SdkClientException',
      'Lambda.ClientExecutionTimeoutException',
      'States.Timeout',
    ],
    intervalSeconds: 1,
    backoffRate: 2,
    maxDelaySeconds: 30,
    maxAttempts: 6,
    jitter: true,
  },
  {
    errors: ['TransientError'],
    intervalSeconds: 1,
    backoffRate: 2,
    maxDelaySeconds: 20,
    maxAttempts: 20,
    jitter: false,
  },
  {
    errors: ['Lambda.TooManyRequestsException'],
    intervalSeconds: 2,
    backoffRate: 2,
    maxDelaySeconds: 30,
    maxAttempts: 20,
    jitter: true,
  },
  {
    errors: ['Lambda.Unknown', 'Sandbox.Timedout', 'Runtime.ExitError', 'Runtime.OutOfMemory'],
    intervalSeconds: 1,
    backoffRate: 2,
    maxAttempts: 2,
    jitter: false,
  },
];

/** Time limits and retries of the tasks on both hosts. A test compares them with `lib/workflow/run.asl.json`. */
export const taskLimits: Readonly<Record<TaskName, TaskLimits>> = {
  begin: { timeoutSeconds: 60, retries },
  capture: { timeoutSeconds: 60, retries },
  analyze: { timeoutSeconds: 150, retries },
  close: {
    timeoutSeconds: 60,
    retries: [
      {
        errors: ['States.ALL'],
        intervalSeconds: 1,
        backoffRate: 2,
        maxDelaySeconds: 60,
        maxAttempts: 8,
        jitter: true,
      },
    ],
  },
};

/** Returns the rule for an error, if a task may be repeated after it. */
export function findRetryRule({ retries: rules }: TaskLimits, errorName: string): RetryRule | undefined {
  return rules.find(({ errors }) => errors.includes(errorName) || errors.includes('States.ALL'));
}

/** Returns the longest delay before the repetition after `used` repetitions, in seconds. */
export function maxRetryDelay(rule: RetryRule, used: number): number {
  return Math.min(rule.intervalSeconds * rule.backoffRate ** used, rule.maxDelaySeconds ?? Infinity);
}
