import { TransientError } from '../../../../core/errors.ts';
import { retryWithBackoff, type BackoffDeps } from '../../../retry-with-backoff.ts';
import { z } from 'zod';
import { readItem } from './record.ts';
import type { Table, ItemKey } from './table.ts';

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

/** Result of an update decision. An undefined `state` changes nothing. */
export type ItemUpdate<State, Answer> = { answer: Answer; state?: State };

/**
 * Reads a small shared item, decides, and writes the new state if the item is unchanged; otherwise retries from the
 * read. Unused items expire after a day. Throws `TransientError`.
 */
export async function optimisticUpdate<State extends Record<string, unknown>, Answer>(
  { table, backoff, now }: { table: Table; backoff: BackoffDeps; now: () => Date },
  key: ItemKey,
  schema: z.ZodType<State>,
  decide: (state: State) => ItemUpdate<State, Answer>,
): Promise<Answer> {
  return retryWithJitter(async () => {
    const item = (await table.get(key)) ?? {};
    const { version } = readItem(versionSchema, item);
    const { answer, state } = decide(readItem(schema, item));
    if (state === undefined) return { answer };
    const ttl = Math.ceil(now().getTime() / 1000) + idleSeconds;
    const written = await table.write({
      kind: 'put',
      item: { ...key, ...state, version: version + 1, ttl },
      condition: version === 0 ? 'attribute_not_exists(#pk)' : '#version = :seen',
      ...(version > 0 && { values: { ':seen': version } }),
    });
    return written.kind === 'written' ? { answer } : undefined;
  }, backoff).then(({ answer }) => answer);
}

const versionSchema = z.object({ version: z.int().nonnegative().default(0) });

const idleSeconds = 86_400;
