import { z } from 'zod';
import { readCancellation } from './cancellation.ts';
import { retryWithJitter } from './retry-with-jitter.ts';
import { toCoreError } from '../aws-error.ts';
import { attributesSchema, fromAttributes, toAttributes, type Attributes } from './attributes.ts';
import type { Query, Table, TableDeps } from './table.ts';
import { attributeNames, type Item, type ItemKey } from './write.ts';

/** Limit of BatchGetItem. */
const keysAtOnce = 100;

/** Creates the read operations. Reads are consistent, except on indexes. */
export function tableReads({
  dynamo,
  tableName,
  ...backoff
}: Omit<TableDeps, 'newId'>): Pick<Table, 'get' | 'getMany' | 'snapshot' | 'query'> {
  return {
    get: async (key) => {
      const input = { TableName: tableName, Key: toAttributes(key), ConsistentRead: true };
      return convertFound(foundSchema.parse(await passingErrors(() => dynamo('GetItem', input))));
    },
    getMany: async (keys) => {
      const items: Item[] = [];
      for (let from = 0; from < keys.length; from += keysAtOnce) {
        items.push(...(await getAtOnce(keys.slice(from, from + keysAtOnce))));
      }
      return items;
    },
    snapshot: async (keys) => retryWithJitter(() => trySnapshot(keys), backoff),
    query,
  };

  /** Reads all keys. DynamoDB returns as many items as size and capacity allow, and lists the remaining keys. */
  async function getAtOnce(keys: ItemKey[]): Promise<Item[]> {
    const items: Item[] = [];
    let left: Attributes[] = keys.map(toAttributes);
    return retryWithJitter(async () => {
      const input = { RequestItems: { [tableName]: { Keys: left, ConsistentRead: true } } };
      const answer = foundManySchema.parse(await passingErrors(() => dynamo('BatchGetItem', input)));
      items.push(...(answer.Responses[tableName] ?? []).map(fromAttributes));
      left = answer.UnprocessedKeys[tableName]?.Keys ?? [];
      return left.length === 0 ? items : undefined;
    }, backoff);
  }

  async function trySnapshot(keys: ItemKey[]): Promise<(Item | undefined)[] | undefined> {
    const reads = keys.map((key) => ({ Get: { TableName: tableName, Key: toAttributes(key) } }));
    try {
      const { Responses } = snapshotSchema.parse(await dynamo('TransactGetItems', { TransactItems: reads }));
      return keys.map((_, index) => convertFound(Responses[index] ?? {}));
    } catch (error) {
      if (readCancellation(error) === undefined) throw toCoreError(error);
      return undefined;
    }
  }

  async function query(asked: Query): Promise<Item[]> {
    const items: Item[] = [];
    let from: Attributes | undefined;
    do {
      const input = toQueryInput(tableName, asked, from);
      const page = pageSchema.parse(await passingErrors(() => dynamo('Query', input)));
      items.push(...page.Items.map(fromAttributes));
      from = page.LastEvaluatedKey;
    } while (from !== undefined && items.length < (asked.limit ?? Infinity));
    return asked.limit === undefined ? items : items.slice(0, asked.limit);
  }
}

function toQueryInput(tableName: string, asked: Query, from: Attributes | undefined): object {
  const { index, where, filter, values, newestFirst, limit } = asked;
  return {
    TableName: tableName,
    ...(index === undefined ? { ConsistentRead: true } : { IndexName: index }),
    KeyConditionExpression: where,
    ExpressionAttributeNames: attributeNames([where, filter]),
    ExpressionAttributeValues: toAttributes(values),
    ScanIndexForward: newestFirst !== true,
    ...(filter !== undefined && { FilterExpression: filter }),
    ...(limit !== undefined && { Limit: limit }),
    ...(from && { ExclusiveStartKey: from }),
  };
}

function convertFound({ Item: item }: z.output<typeof foundSchema>): Item | undefined {
  return item && fromAttributes(item);
}

const foundSchema = z.object({ Item: attributesSchema.optional() });
const snapshotSchema = z.object({ Responses: z.array(foundSchema).default([]) });
const foundManySchema = z.object({
  Responses: z.record(z.string(), z.array(attributesSchema)).default({}),
  UnprocessedKeys: z.record(z.string(), z.object({ Keys: z.array(attributesSchema) })).default({}),
});

/** Schema of a page of a query or a scan. */
export const pageSchema = z.object({
  Items: z.array(attributesSchema).default([]),
  LastEvaluatedKey: attributesSchema.optional(),
});

async function passingErrors<Answer>(ask: () => Promise<Answer>): Promise<Answer> {
  try {
    return await ask();
  } catch (error) {
    throw toCoreError(error);
  }
}
