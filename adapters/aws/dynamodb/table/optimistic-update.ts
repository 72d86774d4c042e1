import { z } from 'zod';
import type { BackoffDeps } from '../../../retry-with-backoff.ts';
import { retryWithJitter } from './retry-with-jitter.ts';
import { readItem } from './record.ts';
import type { Table } from './table.ts';
import type { ItemKey } from './write.ts';

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
