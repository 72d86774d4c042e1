import { randomUUID } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { openTable } from '../../../../adapters/aws/dynamodb/table.ts';
import { dynamoStores } from '../../../../adapters/aws/dynamodb/stores.ts';
import type { Write } from '../../../../adapters/aws/dynamodb/write.ts';
import { TransientError } from '../../../../core/errors.ts';
import { creationOf, newJob, start } from '../../../contract/records.ts';
import { cancelled, scriptedDynamo, type Reply } from './scripted-dynamo.ts';

const key = { pk: 'a', sk: 'b' };
const put: Write = { kind: 'put', item: key };
const done: Reply = { body: {} };

describe('a transaction', () => {
  it('that collided is made again as a new one', async () => {
    const { table, asked, waitsMs } = await scripted([
      cancelled('None', 'TransactionConflict'),
      cancelled('ThrottlingError', 'None'),
      done,
    ]);

    expect(await table.transact([put, put])).toEqual({ kind: 'written' });

    expect(new Set(asked.map(({ body }) => body.ClientRequestToken)).size).toBe(3);
    expect(waitsMs).toEqual([10, 20]);
  });

  it('whose conditions are not met says which, and is not made again', async () => {
    const { table, asked } = await scripted([
      cancelled('TransactionConflict', 'ConditionalCheckFailed', 'None'),
    ]);

    expect(await table.transact([put, put, put])).toEqual({
      kind: 'refused',
      refused: [false, true, false],
    });

    expect(asked).toHaveLength(1);
  });

  it('that is still under way is asked for again as the same one', async () => {
    const { table, asked } = await scripted([{ error: 'TransactionInProgressException' }, done]);

    expect(await table.transact([put])).toEqual({ kind: 'written' });

    const [first, second] = asked.map(({ body }) => body.ClientRequestToken);
    expect(second).toBe(first);
  });

  it('that collides for good is transient, and waits no longer than a second at a time', async () => {
    const { table, asked, waitsMs } = await scripted([cancelled('TransactionConflict')]);

    await expect(table.transact([put])).rejects.toThrow(TransientError);

    expect(asked).toHaveLength(12);
    expect(Math.max(...waitsMs)).toBe(500);
  });

  it('that is wrong is an error of ours and no collision', async () => {
    const { table, asked } = await scripted([cancelled('ValidationError')]);

    await expect(table.transact([put])).rejects.toThrow('TransactionCanceledException');
    expect(asked).toHaveLength(1);
  });
});

it('a creation that only collided never finds the slots full', async () => {
  const { client } = await scriptedDynamo([cancelled('None', 'TransactionConflict', 'None', 'None')]);
  const { jobs } = dynamoStores({ client, tableName: 'table', now: () => start, patience: noWait() });

  await expect(jobs.create(creationOf(newJob()), start)).rejects.toThrow(TransientError);
});

describe('a write or read', () => {
  it('of an item that a transaction holds is repeated', async () => {
    const { table, asked } = await scripted([{ error: 'TransactionConflictException' }, done]);

    expect(await table.write(put)).toEqual({ kind: 'written', item: undefined });
    expect(asked).toHaveLength(2);
  });

  it('of many items asks on for those that were left out', async () => {
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

  it('of a moment at which an item was held is repeated', async () => {
    const { table, asked } = await scripted([
      cancelled('TransactionConflict'),
      { body: { Responses: [{ Item: { pk: { S: 'a' } } }] } },
    ]);

    expect(await table.snapshot([key])).toEqual([{ pk: 'a' }]);
    expect(asked).toHaveLength(2);
  });

  it.each<[string, Reply]>([
    ['throttled', { error: 'ThrottlingException' }],
    ['over the table’s throughput', { error: 'ProvisionedThroughputExceededException' }],
    ['failing inside', { error: 'InternalServerError', status: 500 }],
    ['on a line that breaks', 'broken line'],
  ])('that is %s is transient', async (_, reply) => {
    const { table } = await scripted([reply]);

    await expect(table.get(key)).rejects.toThrow(TransientError);
    await expect(table.write(put)).rejects.toThrow(TransientError);
    await expect(table.transact([put])).rejects.toThrow(TransientError);
    await expect(table.query({ where: '#pk = :a', values: { ':a': 'a' } })).rejects.toThrow(TransientError);
  });

  it.each(['AccessDeniedException', 'ResourceNotFoundException', 'ValidationException'])(
    'that is refused with %s is no matter of patience',
    async (error) => {
      const { table, asked } = await scripted([{ error }]);

      await expect(table.write(put)).rejects.toMatchObject({ name: error });
      expect(asked).toHaveLength(1);
    },
  );
});

async function scripted(replies: Reply[]) {
  const { client, asked } = await scriptedDynamo(replies);
  const waitsMs: number[] = [];
  const sleep = async (milliseconds: number) => void waitsMs.push(milliseconds);
  const table = openTable({ client, tableName: 'table', newId: randomUUID, sleep, random: () => 0.5 });
  return { table, asked, waitsMs };
}

function noWait() {
  return { sleep: async () => undefined, random: () => 0.5 };
}
