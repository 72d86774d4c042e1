import { TransientError } from '../../../../core/errors.ts';
import { retryWithBackoff, type BackoffDeps } from '../../../retry-with-backoff.ts';

/** Waits between 0 and twice the mean. Twelve attempts take four seconds on average; a function responds within 30. */
const conflicts = { maxAttempts: 12, firstWaitMs: 10, maxWaitMs: 500, jitter: 1 };

/** Retries on conflict (undefined) with backoff and full jitter. Throws `TransientError` after 12 attempts. */
export async function retryWithJitter<Answer>(
  ask: () => Promise<Answer | undefined>,
  backoff: BackoffDeps,
): Promise<Answer> {
  const mustRetry = (answer: Answer | undefined) => answer === undefined;
  const answer = await retryWithBackoff(ask, { ...conflicts, mustRetry }, backoff);
  if (answer === undefined) throw new TransientError('Too many concurrent changes of the same items');
  return answer;
}
