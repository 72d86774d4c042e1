import { describe, expect, test } from 'vitest';
import { catchSchema, decideRetry, retrySchema } from '../../../../adapters/embedded/workflow/retry.ts';
import { watch } from './scripted-job.ts';
import { rules } from '../../../../core/rules.ts';

const half = () => 0.5;

function handlers(Retry: object[], Catch: object[] = []) {
  return { Retry: retrySchema.parse(Retry), Catch: catchSchema.parse(Catch) };
}

function react(error: string, of: ReturnType<typeof handlers>, attempts: number[] = [], random = half) {
  return decideRetry({ error, cause: 'why' }, of, attempts, random);
}

/** Returns the delays of all retries until the retrier gives up. */
function delays(of: ReturnType<typeof handlers>, error = 'E', random = half): number[] {
  const found: number[] = [];
  for (let attempts: number[] = []; ;) {
    const reaction = react(error, of, attempts, random);
    if (reaction.kind !== 'retry') return found;
    found.push(reaction.delaySeconds);
    attempts = reaction.attempts;
  }
}

describe('a retrier', () => {
  test('a retrier without settings retries three times after 1, 2 and 4 s', () => {
    expect(delays(handlers([{ ErrorEquals: ['E'] }]))).toEqual([1, 2, 4]);
  });

  test('the backoff rate multiplies the interval up to the maximum delay', () => {
    const retrier = {
      ErrorEquals: ['E'],
      IntervalSeconds: 2,
      BackoffRate: 3,
      MaxDelaySeconds: 20,
      MaxAttempts: 5,
    };
    expect(delays(handlers([retrier]))).toEqual([2, 6, 18, 20, 20]);
  });

  test('full jitter waits a random part of the delay and never longer', () => {
    const retrier = { ErrorEquals: ['E'], BackoffRate: 2, MaxDelaySeconds: 3, JitterStrategy: 'FULL' };
    expect(delays(handlers([retrier]), 'E', () => 0)).toEqual([0, 0, 0]);
    expect(delays(handlers([retrier]), 'E', half)).toEqual([0.5, 1, 1.5]);
  });

  test('the delay stays finite at any number of attempts', () => {
    const retrier = { ErrorEquals: ['E'], BackoffRate: 10, MaxAttempts: 1000 };
    expect(delays(handlers([retrier])).every((seconds) => seconds <= 31_622_400)).toBe(true);
  });

  test('a retrier with zero attempts does not retry', () => {
    expect(delays(handlers([{ ErrorEquals: ['E'], MaxAttempts: 0 }]))).toEqual([]);
  });

  test('a retrier counts its own attempts only', () => {
    const of = handlers([
      { ErrorEquals: ['A'], MaxAttempts: 1 },
      { ErrorEquals: ['B'], MaxAttempts: 2 },
    ]);
    expect(react('B', of, [1, 1])).toEqual({ kind: 'retry', delaySeconds: 2, attempts: [1, 2] });
    expect(react('A', of, [1, 2]).kind).toBe('fail');
  });

  test('an exhausted retrier is not followed by a later one that names the same error', () => {
    const of = handlers([
      { ErrorEquals: ['E'], MaxAttempts: 1 },
      { ErrorEquals: ['States.ALL'], MaxAttempts: 5 },
    ]);
    expect(react('E', of, [1, 0]).kind).toBe('fail');
    expect(react('F', of, [1, 0])).toMatchObject({ kind: 'retry', attempts: [1, 1] });
  });
});

describe('error names', () => {
  test.each([
    ['States.ALL', 'E', true],
    ['States.ALL', 'States.Timeout', true],
    ['States.Timeout', 'States.Timeout', true],
    ['States.Timeout', 'E', false],
    ['E', 'E', true],
    ['E', 'e', false],
  ])('the name %s matches the error %s: %j', (name, error, matches) => {
    expect(react(error, handlers([{ ErrorEquals: [name] }])).kind).toBe(matches ? 'retry' : 'fail');
    expect(react(error, handlers([], [{ ErrorEquals: [name], Next: 'N' }])).kind).toBe(
      matches ? 'catch' : 'fail',
    );
  });

  test('the first matching catcher handles an error without a retry left', () => {
    const of = handlers(
      [{ ErrorEquals: ['E'], MaxAttempts: 0 }],
      [
        { ErrorEquals: ['F'], Next: 'first' },
        { ErrorEquals: ['E'], Next: 'second' },
        { ErrorEquals: ['States.ALL'], Next: 'third' },
      ],
    );
    expect(react('E', of)).toMatchObject({ kind: 'catch', catcher: { Next: 'second' } });
    expect(react('G', of)).toMatchObject({ kind: 'catch', catcher: { Next: 'third' } });
  });
});

describe('the retries of watch.asl.json', () => {
  test('the retries of a capture last at most 61 s with the longest jitter', () => {
    const { Retry, Catch } = watch.States.Capture;
    expect(delays(handlers(Retry, Catch), 'States.Timeout', () => 1)).toEqual([1, 2, 4, 8, 16, 30]);
  });

  test.each(['Begin', 'Capture', 'Analyze'] as const)(
    'a function in %s that ran out of time or memory is retried twice, in less than the lease',
    (state) => {
      const { Retry, Catch, TimeoutSeconds } = watch.States[state];
      for (const error of [
        'Sandbox.Timedout',
        'Runtime.ExitError',
        'Runtime.OutOfMemory',
        'Lambda.Unknown',
      ]) {
        const waits = delays(handlers(Retry, Catch), error);
        expect(waits).toEqual([1, 2]);
        expect(3 * TimeoutSeconds + 3).toBeLessThan(rules.leaseMarginSeconds);
      }
    },
  );

  test.each(['Begin', 'Capture', 'Analyze'] as const)(
    'the retries of %s wait minutes for Lambda concurrency, but less than the lease',
    (state) => {
      const { Retry, Catch } = watch.States[state];
      const waited = (random: () => number) =>
        delays(handlers(Retry, Catch), 'Lambda.TooManyRequestsException', random).reduce((a, b) => a + b, 0);
      expect(waited(half)).toBeGreaterThan(240);
      expect(waited(() => 1)).toBeLessThan(rules.leaseMarginSeconds);
    },
  );

  test.each(['Begin', 'Capture', 'Analyze'] as const)(
    'the retries of %s wait minutes for a full disk, but less than the lease',
    (state) => {
      const { Retry, Catch } = watch.States[state];
      const waited = delays(handlers(Retry, Catch), 'TransientError').reduce((sum, delay) => sum + delay, 0);
      expect(waited).toBeGreaterThan(240);
      expect(waited).toBeLessThan(rules.leaseMarginSeconds);
    },
  );
});
