import { CloudFormationClient, DescribeStacksCommand } from '@aws-sdk/client-cloudformation';
import { mockClient } from 'aws-sdk-client-mock';
import { beforeEach, expect, test } from 'vitest';
import { findBaseUrl } from '../../../cli/target/stack-outputs.ts';

const client = new CloudFormationClient({ region: 'eu-west-1' });
const cloudFormation = mockClient(client);
beforeEach(() => void cloudFormation.reset());

const stack = {
  StackName: 'watchpost-prod',
  CreationTime: new Date(0),
  StackStatus: 'CREATE_COMPLETE' as const,
};

test('the base URL of a deployment is an output of its stack', async () => {
  const Outputs = [
    { OutputKey: 'TableName', OutputValue: 'table' },
    { OutputKey: 'BaseUrl', OutputValue: 'https://d1.cloudfront.net/api' },
  ];
  cloudFormation
    .on(DescribeStacksCommand, { StackName: 'watchpost-prod' })
    .resolves({ Stacks: [{ ...stack, Outputs }] });
  expect(await findBaseUrl('watchpost-prod', client)).toBe('https://d1.cloudfront.net/api');
});

test('an unknown stack and one of another service are rejected with a remediation', async () => {
  const unknown = new Error('Stack with id nope does not exist');
  cloudFormation
    .on(DescribeStacksCommand)
    .rejectsOnce(unknown)
    .resolves({ Stacks: [stack] });
  await expect(findBaseUrl('nope', client)).rejects.toThrow(
    'The stack nope cannot be read: Stack with id nope',
  );
  await expect(findBaseUrl('other', client)).rejects.toMatchObject({
    message: 'The stack other has no output BaseUrl',
    remediation: expect.stringContaining('--base-url'),
  });
});
