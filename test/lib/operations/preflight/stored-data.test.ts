import { CloudFormationClient, DescribeStacksCommand } from '@aws-sdk/client-cloudformation';
import { mockClient } from 'aws-sdk-client-mock';
import { expect, test } from 'vitest';
import { checkStoredData } from '../../../../lib/operations/preflight/stored-data.ts';
import { synthesize } from '../../synthesize.ts';

const client = new CloudFormationClient({ region: 'eu-central-1' });
const describeStacks = mockClient(client).on(DescribeStacksCommand);

/** Checks a stack with these outputs. */
function check(outputs: Record<string, string>) {
  const Outputs = Object.entries(outputs).map(([OutputKey, OutputValue]) => ({ OutputKey, OutputValue }));
  describeStacks.resolves({ Stacks: [{ Outputs } as any] });
  return checkStoredData('Watchpost-prod', client);
}

const deployedVersion: string = synthesize().template.toJSON()['Outputs'].StorageVersion.Value;

test('a deployment over a table of the same version is green', async () => {
  expect(await check({ TableName: 'jobs', StorageVersion: deployedVersion })).toMatchObject({
    level: 'green',
  });
});

test.each<[string, Record<string, string>]>([
  ['of another version', { TableName: 'jobs', StorageVersion: '0123456789' }],
  ['of a commit without versions', { TableName: 'jobs' }],
])('a deployment over a table %s is refused with the way out', async (_, outputs) => {
  expect(await check(outputs)).toEqual({
    check: 'stored data',
    level: 'red',
    found:
      'Another version of Watchpost wrote the table of Watchpost-prod, and before release 1.0 none reads the data of another.',
    next: 'Deploy the commit that wrote it, or a stage with another name, in which you create keys, jobs and watches again.',
  });
});

test('a first deployment is green, also after one that failed and left no output', async () => {
  expect(await check({})).toMatchObject({ level: 'green' });
  const message = 'Stack with id Watchpost-prod does not exist';
  describeStacks.rejects(Object.assign(new Error(message), { name: 'ValidationError' }));
  expect(await checkStoredData('Watchpost-prod', client)).toMatchObject({ level: 'green' });
});

test('a stack that cannot be read is yellow and names the permission', async () => {
  describeStacks.rejects(Object.assign(new Error('not authorized'), { name: 'AccessDenied' }));
  expect(await checkStoredData('Watchpost-prod', client)).toMatchObject({
    level: 'yellow',
    next: 'Permit cloudformation:DescribeStacks.',
  });
});
