import type { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import {
  DynamoDBDocumentClient,
  DeleteCommand,
  PutCommand,
  TransactWriteCommand,
  UpdateCommand,
  BatchGetCommand,
  GetCommand,
  QueryCommand,
  TransactGetCommand,
} from '@aws-sdk/lib-dynamodb';
import type { BackoffDeps } from '../../../retry-with-backoff.ts';
import {
  type Table,
  type TransactionResult,
  type WriteResult,
  type Query,
  buildExpression,
  toTransactItem,
  type Item,
  type Write,
  attributeNames,
  type ItemKey,
} from './table.ts';
import { retryWithJitter } from './retries.ts';
import { toCoreError } from '../../aws-error.ts';
import { readKey } from './record.ts';
import { z } from 'zod';

export type TableDeps = { client: DynamoDBClient; tableName: string; newId: () => string } & BackoffDeps;

/** Creates the operations on a table. Sends no request. */
export function openTable({ client, tableName, newId, sleep, random }: TableDeps): Table {
  const documents = DynamoDBDocumentClient.from(client, { marshallOptions: { removeUndefinedValues: true } });
  const deps = { documents, tableName, newId, sleep, random };
  return { ...tableReads(deps), ...tableWrites(deps) };
}

type Deps = { documents: DynamoDBDocumentClient; tableName: string; newId: () => string } & BackoffDeps;

function tableWrites({ documents, tableName, newId, ...backoff }: Deps): Pick<Table, 'write' | 'transact'> {
  return {
    write: async (write) => retryWithJitter(() => tryWrite(write), backoff),
    transact: async (writes) => {
      const items = writes.map((write) => toTransactItem(write, tableName));
      let token = newId();
      return retryWithJitter(async (): Promise<TransactionResult | undefined> => {
        const outcome = await tryTransact(items, token);
        if (outcome.kind === 'written' || outcome.kind === 'refused') return outcome;
        // A cancelled transaction is retried as a new request; one that may be running keeps its token.
        if (outcome.kind === 'collided') token = newId();
        return undefined;
      }, backoff);
    },
  };

  async function tryWrite(write: Write): Promise<WriteResult | undefined> {
    try {
      return { kind: 'written', item: await send(write) };
    } catch (error) {
      if (isConditionFailure(error)) return { kind: 'refused' };
      if (isTransactionConflict(error)) return undefined;
      throw toCoreError(error);
    }
  }

  async function send(write: Write): Promise<Item | undefined> {
    const rest = buildExpression(write, tableName);
    switch (write.kind) {
      case 'put':
        await documents.send(new PutCommand({ ...rest, Item: write.item }));
        return undefined;
      case 'delete':
        await documents.send(new DeleteCommand({ ...rest, Key: write.key }));
        return undefined;
      case 'update': {
        const update = { ...rest, Key: write.key, UpdateExpression: write.change };
        return (await documents.send(new UpdateCommand({ ...update, ReturnValues: 'ALL_NEW' }))).Attributes;
      }
    }
  }

  /** The token makes SDK retries after a broken connection the same request, for ten minutes. */
  async function tryTransact(items: ReturnType<typeof toTransactItem>[], token: string) {
    try {
      await documents.send(new TransactWriteCommand({ TransactItems: items, ClientRequestToken: token }));
      return { kind: 'written' } as const;
    } catch (error) {
      const cancellation = readCancellation(error);
      if (cancellation === undefined) throw toCoreError(error);
      return cancellation;
    }
  }
}

type Keys = Record<string, unknown>[];

/** Limit of BatchGetItem. */
const keysAtOnce = 100;

/** Creates the read operations. Reads are consistent, except on indexes and for readers that permit a lag. */
function tableReads({
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

/** Reason of a transaction that did nothing, or whose result is unknown. */
export type Cancellation =
  /** A condition failed. `refused` has one entry per write, in order. */
  | { kind: 'refused'; refused: boolean[] }
  /** Another transaction held an item, or capacity was exceeded. */
  | { kind: 'collided' }
  /** The same request was sent before and is still running. */
  | { kind: 'under_way' };

/**
 * Reads the reason of a cancelled transaction. Returns undefined for other errors. A failed condition takes
 * precedence over a conflict, because conditions are evaluated on committed data.
 */
function readCancellation(error: unknown): Cancellation | undefined {
  const read = cancelledSchema.safeParse(error);
  if (!read.success) return isTransactionConflict(error) ? { kind: 'under_way' } : undefined;
  const codes = read.data.CancellationReasons.map(({ Code }) => Code ?? 'None');
  const refused = codes.map((code) => code === 'ConditionalCheckFailed');
  if (refused.includes(true)) return { kind: 'refused', refused };
  return codes.some((code) => passing.has(code)) ? { kind: 'collided' } : undefined;
}

/** Returns true if a transaction held the item of a single write. */
function isTransactionConflict(error: unknown): boolean {
  return (
    errorName(error) === 'TransactionConflictException' ||
    errorName(error) === 'TransactionInProgressException'
  );
}

/** Returns true if the condition of a single write failed. */
function isConditionFailure(error: unknown): boolean {
  return errorName(error) === 'ConditionalCheckFailedException';
}

function errorName(error: unknown): string | undefined {
  return error instanceof Error ? error.name : undefined;
}

const cancelledSchema = z.object({
  name: z.literal('TransactionCanceledException'),
  CancellationReasons: z.array(z.object({ Code: z.string().optional() })),
});

/**
 * Cancellation reasons that a retry may resolve
 * (docs.aws.amazon.com/amazondynamodb/latest/APIReference/API_TransactWriteItems.html).
 */
const passing = new Set(['TransactionConflict', 'ProvisionedThroughputExceeded', 'ThrottlingError']);
