import { setTimeout as wait } from 'node:timers/promises';

/** Waits and random numbers of retries. */
export type BackoffDeps = {
  sleep: (milliseconds: number, signal?: AbortSignal) => Promise<void>;
  /** 0 to below 1. */
  random: () => number;
};

/** Waits and random numbers of the system. */
export const systemBackoff: BackoffDeps = {
  sleep: async (milliseconds, signal) => wait(milliseconds, undefined, { signal }),
  random: Math.random,
};

/** Rule of a series of attempts. */
export type RetryRule<Answer> = {
  /** Maximum attempts, including the first. */
  maxAttempts: number;
  /** Mean wait after the first attempt. Each further one doubles it. */
  firstWaitMs: number;
  /** Maximum mean wait. */
  maxWaitMs: number;
  /** Maximum random change of a wait, as a fraction of it: 1 for a wait between 0 and twice the mean. */
  jitter: number;
  mustRetry: (answer: Answer) => boolean;
  /** Wait that the answer requests; undefined if it requests none. */
  requestedWaitMs?: (answer: Answer) => number | undefined;
};

/** Repeats the request until a response needs no retry. Returns the last response after `maxAttempts`. */
export async function retryWithBackoff<Answer>(
  ask: () => Promise<Answer>,
  rule: RetryRule<Answer>,
  { sleep, random }: BackoffDeps,
  signal?: AbortSignal,
): Promise<Answer> {
  for (let attempt = 1; ; attempt += 1) {
    const answer = await ask();
    if (attempt >= rule.maxAttempts || !rule.mustRetry(answer)) return answer;
    const meanMs = Math.min(rule.maxWaitMs, rule.firstWaitMs * 2 ** (attempt - 1));
    const waitMs = rule.requestedWaitMs?.(answer) ?? meanMs * (1 + rule.jitter * (2 * random() - 1));
    await sleep(waitMs, signal);
  }
}
