import type { TransactWriteCommandInput } from '@aws-sdk/lib-dynamodb';

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
