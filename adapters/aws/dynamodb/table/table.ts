import type { TransactWriteCommandInput } from '@aws-sdk/lib-dynamodb';

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

export type ItemKey = { pk: string; sk: string };
export type Item = Record<string, unknown>;

type Condition = {
  /** Condition expression. Every attribute is `#name`, so that no name can be a reserved word. */
  condition?: string;
  values?: Item;
  /** Names of attributes that are only known at run time. */
  names?: Record<string, string>;
};

/** Change of one item, alone or in a transaction. */
export type Write = Condition &
  (
    | { kind: 'put'; item: ItemKey & Item }
    | { kind: 'update'; key: ItemKey; change: string }
    | { kind: 'delete'; key: ItemKey }
  );

/** Condition on an item that a transaction does not change. */
export type Check = Condition & { kind: 'check'; key: ItemKey; condition: string };

type TransactItem = NonNullable<TransactWriteCommandInput['TransactItems']>[number];

export function toTransactItem(write: Write | Check, tableName: string): TransactItem {
  const rest = buildExpression(write, tableName);
  switch (write.kind) {
    case 'put':
      return { Put: { ...rest, Item: write.item } };
    case 'update':
      return { Update: { ...rest, Key: write.key, UpdateExpression: write.change } };
    case 'delete':
      return { Delete: { ...rest, Key: write.key } };
    case 'check':
      return { ConditionCheck: { ...rest, Key: write.key, ConditionExpression: write.condition } };
  }
}

/** Builds the parameters that all write commands share. */
export function buildExpression(write: Write | Check, tableName: string) {
  const names = attributeNames(
    [write.condition, write.kind === 'update' ? write.change : undefined],
    write.names,
  );
  return {
    TableName: tableName,
    ...(write.condition && { ConditionExpression: write.condition }),
    ...(write.values && { ExpressionAttributeValues: write.values }),
    ...(names && { ExpressionAttributeNames: names }),
  };
}

/**
 * Returns `{ '#status': 'status' }` for each attribute of the expressions. Returns undefined if they have none,
 * because DynamoDB rejects an empty map.
 */
export function attributeNames(
  expressions: (string | undefined)[],
  more: Record<string, string> = {},
): Record<string, string> | undefined {
  const used = expressions.flatMap((expression) => expression?.match(/#\w+/g) ?? []);
  const names = Object.fromEntries(used.map((name) => [name, more[name] ?? name.slice(1)]));
  return used.length === 0 ? undefined : names;
}
