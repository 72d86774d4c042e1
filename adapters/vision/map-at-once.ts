/** The results of `work` in the order of the items, with at most `most` of them under way. With a first failure, which is thrown, nothing more is begun. */
export async function mapAtOnce<Item, Result>(
  items: readonly Item[],
  most: number,
  work: (item: Item) => Promise<Result>,
): Promise<Result[]> {
  const results: Result[] = [];
  const rest = numbered(items);
  await Promise.all(Array.from({ length: most }, takeTurns));
  return results;

  /** All take from the same generator, which a loop that throws closes for the others too. */
  async function takeTurns(): Promise<void> {
    for (const [at, item] of rest) results[at] = await work(item);
  }
}

function* numbered<Item>(items: readonly Item[]): Generator<[number, Item]> {
  yield* items.entries();
}
