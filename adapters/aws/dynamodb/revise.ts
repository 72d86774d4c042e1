import { z } from 'zod';
import { untilAnswered, type Patience } from './jitter.ts';
import { readItem } from './record.ts';
import type { Table } from './table.ts';
import type { Key } from './write.ts';

/** Result of an update decision. An undefined `state` changes nothing. */
export type Revision<State, Answer> = { answer: Answer; state?: State };

/**
 * Reads a small shared item, decides, and writes the new state if the item is unchanged; otherwise retries from the
 * read. Unused items expire after a day. Throws `TransientError`.
 */
export async function revise<State extends Record<string, unknown>, Answer>(
  { table, backoff, now }: { table: Table; backoff: Patience; now: () => Date },
  key: Key,
  schema: z.ZodType<State>,
  decide: (state: State) => Revision<State, Answer>,
): Promise<Answer> {
  return untilAnswered(async () => {
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
