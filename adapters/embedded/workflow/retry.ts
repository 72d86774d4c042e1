import { z } from 'zod';
import { referencePathSchema } from './reference-path.ts';

/**
 * Error names that this engine supports. It rejects a definition that names another `States.*` error. `States.Runtime` and
 * `States.DataLimitExceeded` end an execution; no catcher handles them.
 */
const reservedErrors = new Set(['States.ALL', 'States.Timeout']);

const errorEqualsSchema = z
  .array(
    z
      .string()
      .min(1)
      .refine((name) => !name.startsWith('States.') || reservedErrors.has(name), {
        error: ({ input }) => `${String(input)} is no error that this engine supports`,
      }),
  )
  .min(1)
  .refine((names) => names.length === 1 || !names.includes('States.ALL'), 'States.ALL stands alone');

/** Maximum seconds in Retry, Wait and TimeoutSeconds of Step Functions. */
export const maxSeconds = 99_999_999;
/** Maximum `MaxDelaySeconds` of Step Functions: 366 days. It also bounds a backoff without that field. */
const maxDelaySeconds = 31_622_400;

const retrierSchema = z.strictObject({
  Comment: z.string().optional(),
  ErrorEquals: errorEqualsSchema,
  IntervalSeconds: z.int().positive().max(maxSeconds).default(1),
  BackoffRate: z.number().min(1).default(2),
  MaxDelaySeconds: z.int().positive().max(maxDelaySeconds).default(maxDelaySeconds),
  MaxAttempts: z.int().nonnegative().max(maxSeconds).default(3),
  JitterStrategy: z.literal('FULL').optional(),
});
export type Retrier = z.infer<typeof retrierSchema>;

const catcherSchema = z.strictObject({
  Comment: z.string().optional(),
  ErrorEquals: errorEqualsSchema,
  ResultPath: referencePathSchema.optional(),
  Next: z.string(),
});
export type Catcher = z.infer<typeof catcherSchema>;

export const retrySchema = z.array(retrierSchema).refine(wildcardIsLast, 'States.ALL comes last');
export const catchSchema = z.array(catcherSchema).refine(wildcardIsLast, 'States.ALL comes last');

/** Failure of a task: `error` is its name, as in ErrorEquals, `cause` its message. */
export type TaskFailure = { error: string; cause: string };

export type RetryDecision =
  | { kind: 'retry'; delaySeconds: number; attempts: number[] }
  | { kind: 'catch'; catcher: Catcher }
  | { kind: 'fail' };

/**
 * Decides between retry, catch and failure. The first retrier that names the error decides: after its last attempt the catchers
 * follow, no later retrier.
 * @param attempts retries of each retrier since the state was entered
 * @param random in [0, 1)
 */
export function decideRetry(
  { error }: TaskFailure,
  handlers: { Retry: readonly Retrier[]; Catch: readonly Catcher[] },
  attempts: readonly number[],
  random: () => number,
): RetryDecision {
  const index = handlers.Retry.findIndex(({ ErrorEquals }) => names(ErrorEquals, error));
  const retrier = handlers.Retry[index];
  const used = attempts[index] ?? 0;
  if (retrier !== undefined && used < retrier.MaxAttempts) {
    return {
      kind: 'retry',
      delaySeconds: delaySeconds(retrier, used, random),
      attempts: handlers.Retry.map((_, i) => (attempts[i] ?? 0) + (i === index ? 1 : 0)),
    };
  }
  const catcher = handlers.Catch.find(({ ErrorEquals }) => names(ErrorEquals, error));
  return catcher === undefined ? { kind: 'fail' } : { kind: 'catch', catcher };
}

function names(errorEquals: readonly string[], error: string): boolean {
  return errorEquals.includes(error) || errorEquals.includes('States.ALL');
}

function delaySeconds(retrier: Retrier, used: number, random: () => number): number {
  const backoff = Math.min(retrier.IntervalSeconds * retrier.BackoffRate ** used, retrier.MaxDelaySeconds);
  return retrier.JitterStrategy === 'FULL' ? backoff * random() : backoff;
}

function wildcardIsLast(handlers: readonly { ErrorEquals: readonly string[] }[]): boolean {
  return handlers.slice(0, -1).every(({ ErrorEquals }) => !ErrorEquals.includes('States.ALL'));
}
