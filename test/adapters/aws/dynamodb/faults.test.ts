import { randomUUID } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { openTable } from '../../../../adapters/aws/dynamodb/open-table.ts';
import { dynamoStores } from '../../../../adapters/aws/dynamodb/stores.ts';
import type { Write } from '../../../../adapters/aws/dynamodb/write.ts';
import { TransientError } from '../../../../core/errors.ts';
import { createCreation, newJob, start } from '../../../contract/records.ts';
import { cancelled, scriptedDynamo, type Reply } from './scripted-dynamo.ts';

const key = { pk: 'a', sk: 'b' };
const put: Write = { kind: 'put', item: key };
const done: Reply = { body: {} };

describe('DynamoDB transaction', () => {
  test('a conflicting transaction is retried as a new request', async () => {
    const { table, asked, waitsMs } = await scripted([
      cancelled('None', 'TransactionConflict'),
      cancelled('ThrottlingError', 'None'),
      done,
    ]);

    expect(await table.transact([put, put])).toEqual({ kind: 'written' });

    expect(new Set(asked.map(({ body }) => body.ClientRequestToken)).size).toBe(3);
    expect(waitsMs).toEqual([10, 20]);
  });

  test('a failed condition is reported and not retried', async () => {
    const { table, asked } = await scripted([
      cancelled('TransactionConflict', 'ConditionalCheckFailed', 'None'),
    ]);

    expect(await table.transact([put, put, put])).toEqual({
      kind: 'refused',
      refused: [false, true, false],
    });

    expect(asked).toHaveLength(1);
  });

  test('a running transaction is requested again with the same token', async () => {
    const { table, asked } = await scripted([{ error: 'TransactionInProgressException' }, done]);

    expect(await table.transact([put])).toEqual({ kind: 'written' });

    const [first, second] = asked.map(({ body }) => body.ClientRequestToken);
    expect(second).toBe(first);
  });

  test('a permanent conflict is a TransientError, with waits of at most one second', async () => {
    const { table, asked, waitsMs } = await scripted([cancelled('TransactionConflict')]);

    await expect(table.transact([put])).rejects.toThrow(TransientError);

    expect(asked).toHaveLength(12);
    expect(Math.max(...waitsMs)).toBe(500);
  });

  test('an invalid transaction is a defect, not a conflict', async () => {
    const { table, asked } = await scripted([cancelled('ValidationError')]);

    await expect(table.transact([put])).rejects.toThrow('TransactionCanceledException');
    expect(asked).toHaveLength(1);
  });
});

test('a creation that only conflicts never reports full slots', async () => {
  const { dynamo } = await scriptedDynamo([cancelled('None', 'TransactionConflict', 'None', 'None')]);
  const { jobs } = dynamoStores({ dynamo, tableName: 'table', now: () => start, backoff: noWait() });

  await expect(jobs.create(createCreation(newJob()), start)).rejects.toThrow(TransientError);
});

describe('DynamoDB read or write', () => {
  test('a write of an item in a transaction is retried', async () => {
    const { table, asked } = await scripted([{ error: 'TransactionConflictException' }, done]);

    expect(await table.write(put)).toEqual({ kind: 'written', item: undefined });
    expect(asked).toHaveLength(2);
  });

  test('a read of many items requests unprocessed keys again', async () => {
    const item = (sk: string) => ({ pk: { S: 'a' }, sk: { S: sk } });
    const { table, asked } = await scripted([
      { body: { Responses: { table: [item('1')] }, UnprocessedKeys: { table: { Keys: [item('2')] } } } },
      { body: { Responses: { table: [item('2')] }, UnprocessedKeys: {} } },
    ]);

    const items = await table.getMany([
      { pk: 'a', sk: '1' },
      { pk: 'a', sk: '2' },
    ]);

    expect(items.map(({ sk }) => sk)).toEqual(['1', '2']);
    expect(asked[1]?.body.RequestItems.table).toEqual({ Keys: [item('2')], ConsistentRead: true });
  });

  test('a snapshot that conflicts with a transaction is retried', async () => {
    const { table, asked } = await scripted([
      cancelled('TransactionConflict'),
      { body: { Responses: [{ Item: { pk: { S: 'a' } } }] } },
    ]);

    expect(await table.snapshot([key])).toEqual([{ pk: 'a' }]);
    expect(asked).toHaveLength(2);
  });

  test.each<[string, Reply]>([
    ['throttled', { error: 'ThrottlingException' }],
    ['over the throughput of the table', { error: 'ProvisionedThroughputExceededException' }],
    ['failing internally', { error: 'InternalServerError', status: 500 }],
    ['sent on a broken connection', 'broken line'],
  ])('a request that is %s is a TransientError', async (_, reply) => {
    const { table } = await scripted([reply]);

    await expect(table.get(key)).rejects.toThrow(TransientError);
    await expect(table.write(put)).rejects.toThrow(TransientError);
    await expect(table.transact([put])).rejects.toThrow(TransientError);
    await expect(table.query({ where: '#pk = :a', values: { ':a': 'a' } })).rejects.toThrow(TransientError);
  });

  test.each(['AccessDeniedException', 'ResourceNotFoundException', 'ValidationException'])(
    'a request that is rejected with %s is not a TransientError',
    async (error) => {
      const { table, asked } = await scripted([{ error }]);

      await expect(table.write(put)).rejects.toMatchObject({ name: error });
      expect(asked).toHaveLength(1);
    },
  );
});

async function scripted(replies: Reply[]) {
  const { dynamo, asked } = await scriptedDynamo(replies);
  const waitsMs: number[] = [];
  const sleep = async (milliseconds: number) => void waitsMs.push(milliseconds);
  const table = openTable({ dynamo, tableName: 'table', newId: randomUUID, sleep, random: () => 0.5 });
  return { table, asked, waitsMs };
}

function noWait() {
  return { sleep: async () => undefined, random: () => 0.5 };
}
