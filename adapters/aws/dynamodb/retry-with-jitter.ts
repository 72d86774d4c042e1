import { setTimeout as wait } from 'node:timers/promises';
import { TransientError } from '../../../core/errors.ts';

/** Timer and random numbers for retries. */
export type BackoffDeps = { sleep: (milliseconds: number) => Promise<void>; random: () => number };

/** Timer and random numbers of the system. */
export const systemBackoff: BackoffDeps = {
  sleep: async (milliseconds) => wait(milliseconds),
  random: Math.random,
};

/** Maximum attempts. They take four seconds on average; a function responds within 30. */
const maxAttempts = 12;
const firstWaitMs = 20;
const maxWaitMs = 1_000;

/** Retries on conflict (undefined) with backoff and full jitter. Throws `TransientError` after 12 attempts. */
export async function retryWithJitter<Answer>(
  ask: () => Promise<Answer | undefined>,
  { sleep, random }: BackoffDeps,
): Promise<Answer> {
  for (let attempt = 0; attempt < maxAttempts; attempt += 1) {
    const answer = await ask();
    if (answer !== undefined) return answer;
    await sleep(random() * Math.min(maxWaitMs, firstWaitMs * 2 ** attempt));
  }
  throw new TransientError('Too many concurrent changes of the same items');
}
