/**
 * Maps the items with at most `most` concurrent calls of `work`, and returns the results in order. After the first
 * error, which is thrown, no further call starts.
 */
export async function mapConcurrently<Item, Result>(
  items: readonly Item[],
  max: number,
  work: (item: Item) => Promise<Result>,
): Promise<Result[]> {
  const results: Result[] = [];
  const rest = numbered(items);
  await Promise.all(Array.from({ length: max }, takeTurns));
  return results;

  /** All workers read from one generator. A worker that throws closes it for the others. */
  async function takeTurns(): Promise<void> {
    for (const [index, item] of rest) results[index] = await work(item);
  }
}

function* numbered<Item>(items: readonly Item[]): Generator<[number, Item]> {
  yield* items.entries();
}
