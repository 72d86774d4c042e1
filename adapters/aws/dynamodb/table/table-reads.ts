import { BatchGetCommand, GetCommand, QueryCommand, TransactGetCommand } from '@aws-sdk/lib-dynamodb';
import type { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb';
import { readCancellation } from './cancellation.ts';
import type { BackoffDeps } from '../../../retry-with-backoff.ts';
import { readKey } from './record.ts';
import { retryWithJitter } from './retry-with-jitter.ts';
import { toCoreError } from '../../aws-error.ts';
import type { Query, Table } from './table.ts';
import { attributeNames, type Item, type ItemKey } from './write.ts';

type Deps = { documents: DynamoDBDocumentClient; tableName: string } & BackoffDeps;
type Keys = Record<string, unknown>[];

/** Limit of BatchGetItem. */
const keysAtOnce = 100;

/** Creates the read operations. Reads are consistent, except on indexes and for readers that permit a lag. */
export function tableReads({
  documents,
  tableName,
  ...backoff
}: Deps): Pick<Table, 'get' | 'getMany' | 'snapshot' | 'query'> {
  return {
    get: async (key) => {
      const command = new GetCommand({ TableName: tableName, Key: key, ConsistentRead: true });
      return (await passingErrors(() => documents.send(command))).Item;
    },
    getMany: async (keys, { mayLag = false } = {}) => {
      const items = new Map<string, Item>();
      for (let from = 0; from < keys.length; from += keysAtOnce)
        for (const item of await getAtOnce(keys.slice(from, from + keysAtOnce), !mayLag))
          items.set(toName(readKey(item)), item);
      return keys.map((key) => items.get(toName(key)));
    },
    snapshot: async (keys) => retryWithJitter(() => trySnapshot(keys), backoff),
    query,
  };

  /** Reads all keys. DynamoDB returns as many items as size and capacity allow, and lists the remaining keys. */
  async function getAtOnce(keys: ItemKey[], isConsistent: boolean): Promise<Item[]> {
    const items: Item[] = [];
    let left: Keys | undefined = keys;
    return retryWithJitter(async () => {
      const command: BatchGetCommand = new BatchGetCommand({
        RequestItems: { [tableName]: { Keys: left, ConsistentRead: isConsistent } },
      });
      const answer = await passingErrors(() => documents.send(command));
      items.push(...(answer.Responses?.[tableName] ?? []));
      left = answer.UnprocessedKeys?.[tableName]?.Keys;
      return left === undefined || left.length === 0 ? items : undefined;
    }, backoff);
  }

  async function trySnapshot(keys: ItemKey[]): Promise<(Item | undefined)[] | undefined> {
    const reads = keys.map((key) => ({ Get: { TableName: tableName, Key: key } }));
    try {
      const { Responses } = await documents.send(new TransactGetCommand({ TransactItems: reads }));
      return keys.map((_, index) => Responses?.[index]?.Item);
    } catch (error) {
      if (readCancellation(error) === undefined) throw toCoreError(error);
      return undefined;
    }
  }

  async function query(asked: Query): Promise<Item[]> {
    const items: Item[] = [];
    let from: Item | undefined;
    do {
      const command: QueryCommand = queryCommand(tableName, asked, from);
      const page = await passingErrors(() => documents.send(command));
      items.push(...(page.Items ?? []));
      from = page.LastEvaluatedKey;
    } while (from !== undefined && items.length < (asked.limit ?? Infinity));
    return asked.limit === undefined ? items : items.slice(0, asked.limit);
  }
}

function toName({ pk, sk }: ItemKey): string {
  return `${pk} ${sk}`;
}

function queryCommand(tableName: string, asked: Query, from: Item | undefined): QueryCommand {
  const { index, where, filter, values, newestFirst, limit, mayLag = false } = asked;
  return new QueryCommand({
    TableName: tableName,
    ...(index === undefined ? { ConsistentRead: !mayLag } : { IndexName: index }),
    KeyConditionExpression: where,
    ExpressionAttributeNames: attributeNames([where, filter]),
    ExpressionAttributeValues: values,
    ScanIndexForward: newestFirst !== true,
    ...(filter !== undefined && { FilterExpression: filter }),
    ...(limit !== undefined && { Limit: limit }),
    ...(from && { ExclusiveStartKey: from }),
  });
}

async function passingErrors<Answer>(ask: () => Promise<Answer>): Promise<Answer> {
  try {
    return await ask();
  } catch (error) {
    throw toCoreError(error);
  }
}
