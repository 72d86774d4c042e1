import type { Check, Item, ItemKey, Write } from './write.ts';

export type Query = {
  /** Name of the index. If absent, the table is queried consistently; indexes lag. */
  index?: string;
  /** Key condition, with every attribute as `#name`. */
  where: string;
  values: Item;
  /** Filter, applied after items were read and billed. */
  filter?: string;
  newestFirst?: boolean;
  /** True if a read that misses the commits of the last moment is enough, at half the price. */
  mayLag?: boolean;
  /** Maximum items. If absent, all are returned. */
  limit?: number;
};

/** `mayLag`: a read that misses the commits of the last moment is enough, at half the price. */
export type ReadOptions = { mayLag?: boolean };

/** Result of a single write. `item` is the item after an update. */
export type WriteResult = { kind: 'written'; item: Item | undefined } | { kind: 'refused' };
/** Result of a transaction. `refused` marks the failed conditions, in the order of the writes. */
export type TransactionResult = { kind: 'written' } | { kind: 'refused'; refused: boolean[] };

/**
 * Operations of the stores on the table. Every method throws `TransientError` for transient errors. Conflicts with
 * transactions are retried internally, with jitter.
 */
export type Table = {
  get(key: ItemKey): Promise<Item | undefined>;
  /** Reads items, in the order of the keys. */
  getMany(keys: ItemKey[], options?: ReadOptions): Promise<(Item | undefined)[]>;
  /** Reads at most 100 items at one point in time, in the order of the keys. */
  snapshot(keys: ItemKey[]): Promise<(Item | undefined)[]>;
  query(query: Query): Promise<Item[]>;
  /** Writes one item. `item` is the item after an update. Returns 'refused' if the condition failed. */
  write(write: Write): Promise<WriteResult>;
  /** Writes at most 100 items atomically. A lost response is requested again without a second effect. */
  transact(writes: (Write | Check)[]): Promise<TransactionResult>;
};
