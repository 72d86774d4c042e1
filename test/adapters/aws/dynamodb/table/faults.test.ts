import { viewRuns } from '../../../../support/select-runs.ts';
import { randomUUID } from 'node:crypto';
import {
  DynamoDBClient,
  DynamoDBServiceException,
  TransactionCanceledException,
} from '@aws-sdk/client-dynamodb';
import { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb';
import { mockClient } from 'aws-sdk-client-mock';
import { afterAll, afterEach, describe, expect, test } from 'vitest';
import { openTable } from '../../../../../adapters/aws/dynamodb/table/open-table.ts';
import { dynamoStores } from '../../../../../adapters/aws/dynamodb/stores.ts';
import type { Write } from '../../../../../adapters/aws/dynamodb/table/table.ts';
import { TransientError } from '../../../../../core/errors.ts';
import { createCreation, newJob, start } from '../../../../contract/records.ts';

const key = { pk: 'a', sk: 'b' };
const put: Write = { kind: 'put', item: key };
const client = new DynamoDBClient({ region: 'eu-central-1' });
const dynamo = mockClient(DynamoDBDocumentClient);

afterEach(() => void dynamo.reset());
// Test files share their modules.
afterAll(() => dynamo.restore());

describe('DynamoDB transaction', () => {
  test('a conflicting transaction is retried as a new request', async () => {
    const { table, asked, waitsMs } = scripted([
      cancelled('None', 'TransactionConflict'),
      cancelled('ThrottlingError', 'None'),
      {},
    ]);

    expect(await table.transact([put, put])).toEqual({ kind: 'written' });

    expect(new Set(asked().map(({ ClientRequestToken }) => ClientRequestToken)).size).toBe(3);
    expect(waitsMs).toEqual([10, 20]);
  });

  test('a failed condition is reported and not retried', async () => {
    const { table, asked } = scripted([cancelled('TransactionConflict', 'ConditionalCheckFailed', 'None')]);

    expect(await table.transact([put, put, put])).toEqual({
      kind: 'refused',
      refused: [false, true, false],
    });

    expect(asked()).toHaveLength(1);
  });

  test('a running transaction is requested again with the same token', async () => {
    const { table, asked } = scripted([failure('TransactionInProgressException'), {}]);

    expect(await table.transact([put])).toEqual({ kind: 'written' });

    const [first, second] = asked().map(({ ClientRequestToken }) => ClientRequestToken);
    expect(second).toBe(first);
  });

  test('a permanent conflict is a TransientError, with waits of at most one second', async () => {
    const { table, asked, waitsMs } = scripted([cancelled('TransactionConflict')]);

    await expect(table.transact([put])).rejects.toThrow(TransientError);

    expect(asked()).toHaveLength(12);
    expect(Math.max(...waitsMs)).toBe(500);
  });

  test('an invalid transaction is a defect, not a conflict', async () => {
    const { table, asked } = scripted([cancelled('ValidationError')]);

    await expect(table.transact([put])).rejects.toThrow('TransactionCanceledException');
    expect(asked()).toHaveLength(1);
  });
});

test('a creation that only conflicts never reports full slots', async () => {
  script([cancelled('None', 'TransactionConflict', 'None', 'None')]);
  const { jobs } = viewRuns(
    dynamoStores({ client, tableName: 'table', now: () => start, backoff: noWait() }),
  );

  await expect(jobs.create(createCreation(newJob()), start)).rejects.toThrow(TransientError);
});

describe('DynamoDB read or write', () => {
  test('a write of an item in a transaction is retried', async () => {
    const { table, asked } = scripted([failure('TransactionConflictException'), {}]);

    expect(await table.write(put)).toEqual({ kind: 'written', item: undefined });
    expect(asked()).toHaveLength(2);
  });

  test('a read of many items requests unprocessed keys again', async () => {
    const item = (sk: string) => ({ pk: 'a', sk });
    const { table, asked } = scripted([
      { Responses: { table: [item('1')] }, UnprocessedKeys: { table: { Keys: [item('2')] } } },
      { Responses: { table: [item('2')] }, UnprocessedKeys: {} },
    ]);

    expect(await table.getMany([item('1'), item('2')])).toEqual([item('1'), item('2')]);
    expect(asked()[1]).toEqual({ RequestItems: { table: { Keys: [item('2')], ConsistentRead: true } } });
  });

  test('a snapshot that conflicts with a transaction is retried', async () => {
    const { table, asked } = scripted([
      cancelled('TransactionConflict'),
      { Responses: [{ Item: { pk: 'a' } }] },
    ]);

    expect(await table.snapshot([key])).toEqual([{ pk: 'a' }]);
    expect(asked()).toHaveLength(2);
  });

  test.each<[string, Error]>([
    ['throttled', failure('ThrottlingException')],
    ['over the throughput of the table', failure('ProvisionedThroughputExceededException')],
    ['failing internally', failure('InternalServerError', 500)],
    ['sent on a broken connection', Object.assign(new Error('socket hang up'), { code: 'ECONNRESET' })],
  ])('a request that is %s is a TransientError', async (_, reply) => {
    const { table } = scripted([reply]);

    await expect(table.get(key)).rejects.toThrow(TransientError);
    await expect(table.write(put)).rejects.toThrow(TransientError);
    await expect(table.transact([put])).rejects.toThrow(TransientError);
    await expect(table.query({ where: '#pk = :a', values: { ':a': 'a' } })).rejects.toThrow(TransientError);
  });

  test.each(['AccessDeniedException', 'ResourceNotFoundException', 'ValidationException'])(
    'a request that is rejected with %s is not a TransientError',
    async (error) => {
      const { table, asked } = scripted([failure(error)]);

      await expect(table.write(put)).rejects.toMatchObject({ name: error });
      expect(asked()).toHaveLength(1);
    },
  );
});

type Reply = object | Error;

/** Sets the responses of the client, the last one repeated. */
function script(replies: Reply[]): void {
  const answers = dynamo.onAnyCommand();
  for (const [index, reply] of replies.entries()) {
    const isLast = index === replies.length - 1;
    if (reply instanceof Error) answers[isLast ? 'rejects' : 'rejectsOnce'](reply);
    else answers[isLast ? 'resolves' : 'resolvesOnce'](reply);
  }
}

function scripted(replies: Reply[]) {
  script(replies);
  const waitsMs: number[] = [];
  const sleep = async (milliseconds: number) => void waitsMs.push(milliseconds);
  const table = openTable({ client, tableName: 'table', newId: randomUUID, sleep, random: () => 0.5 });
  return { table, waitsMs, asked: () => dynamo.calls().map(({ args }) => args[0].input as any) };
}

function failure(name: string, httpStatusCode = 400): Error {
  return new DynamoDBServiceException({ name, $fault: 'client', $metadata: { httpStatusCode } });
}

function cancelled(...codes: string[]): Error {
  const CancellationReasons = codes.map((Code) => ({ Code }));
  const message = 'TransactionCanceledException';
  return new TransactionCanceledException({
    message,
    $metadata: { httpStatusCode: 400 },
    CancellationReasons,
  });
}

function noWait() {
  return { sleep: async () => undefined, random: () => 0.5 };
}
