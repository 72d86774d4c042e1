import type { TransactWriteCommandInput } from '@aws-sdk/lib-dynamodb';

export type Key = { pk: string; sk: string };
export type Item = Record<string, unknown>;

type Condition = {
  /** An expression in which every attribute stands as `#name`, so that no name can be a reserved word. */
  condition?: string;
  values?: Item;
  /** Only for attributes whose name is known at run time. */
  names?: Record<string, string>;
};

/** One change of one item, alone or in a transaction. */
export type Write = Condition &
  (
    | { kind: 'put'; item: Key & Item }
    | { kind: 'update'; key: Key; change: string }
    | { kind: 'delete'; key: Key }
  );

type TransactItem = NonNullable<TransactWriteCommandInput['TransactItems']>[number];

export function toTransactItem(write: Write, tableName: string): TransactItem {
  const rest = expressionOf(write, tableName);
  switch (write.kind) {
    case 'put':
      return { Put: { ...rest, Item: write.item } };
    case 'update':
      return { Update: { ...rest, Key: write.key, UpdateExpression: write.change } };
    case 'delete':
      return { Delete: { ...rest, Key: write.key } };
  }
}

export function expressionOf(write: Write, tableName: string) {
  const names = namesIn([write.condition, write.kind === 'update' ? write.change : undefined], write.names);
  return {
    TableName: tableName,
    ...(write.condition && { ConditionExpression: write.condition }),
    ...(write.values && { ExpressionAttributeValues: write.values }),
    ...(names && { ExpressionAttributeNames: names }),
  };
}

/** `{ '#status': 'status' }` for each attribute in the expressions; undefined where there is none, since DynamoDB takes no empty map. */
export function namesIn(
  expressions: (string | undefined)[],
  more: Record<string, string> = {},
): Record<string, string> | undefined {
  const found = expressions.flatMap((expression) => expression?.match(/#\w+/g) ?? []);
  const names = Object.fromEntries(found.map((name) => [name, more[name] ?? name.slice(1)]));
  return found.length === 0 ? undefined : names;
}
