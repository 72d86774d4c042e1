import { DynamoDBClient, ListTablesCommand } from '@aws-sdk/client-dynamodb';
import { mockClient } from 'aws-sdk-client-mock';
import { beforeEach, expect, test } from 'vitest';
import { findTable } from '../../../cli/target/deployed-operator.ts';

const client = new DynamoDBClient({ region: 'eu-west-1' });
const dynamo = mockClient(client);

beforeEach(() => {
  dynamo.reset();
  dynamo
    .on(ListTablesCommand)
    .resolvesOnce({
      TableNames: ['other', 'watchpost-prod-JobsTable1F0A'],
      LastEvaluatedTableName: 'watchpost-prod-JobsTable1F0A',
    })
    .resolves({ TableNames: ['watchpost-test-JobsTable2B3C', 'watchpost-two-A', 'watchpost-two-B'] });
});

test.each([
  ['watchpost-prod', 'watchpost-prod-JobsTable1F0A'],
  ['watchpost-test', 'watchpost-test-JobsTable2B3C'],
])('the table of the stack %s is found', async (stack, table) => {
  expect(await findTable(stack, client)).toBe(table);
});

test('an unknown stack, or one whose name begins others, is rejected with a remediation', async () => {
  await expect(findTable('watchpost-dev', client)).rejects.toMatchObject({
    message: 'No table of the stack watchpost-dev found in this account and region',
    remediation: expect.stringContaining('--table'),
  });
  await expect(findTable('watchpost-two', client)).rejects.toThrow('2 tables');
});
