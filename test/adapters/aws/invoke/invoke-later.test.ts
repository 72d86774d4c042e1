import { InvokeCommand, LambdaClient, LambdaServiceException } from '@aws-sdk/client-lambda';
import { mockClient } from 'aws-sdk-client-mock';
import { beforeEach, expect, test } from 'vitest';
import { deferInvokeLater } from '../../../../adapters/aws/invoke/invoke-later.ts';
import { TransientError } from '../../../../core/errors.ts';

const lambda = mockClient(LambdaClient);
const arn = 'arn:aws:lambda:eu-west-1:123456789012:function:watchpost:live';

beforeEach(() => void lambda.reset());

test('a function is invoked asynchronously with JSON', async () => {
  lambda.on(InvokeCommand).resolves({ StatusCode: 202 });

  await deferInvokeLater()(arn, { shard: '3', running: [] });

  expect(lambda.commandCalls(InvokeCommand).map(({ args: [{ input }] }) => input)).toEqual([
    { FunctionName: arn, InvocationType: 'Event', Payload: '{"shard":"3","running":[]}' },
  ]);
});

test('a throttled invocation is a TransientError', async () => {
  const fault = {
    name: 'TooManyRequestsException',
    $fault: 'client' as const,
    $metadata: { httpStatusCode: 429 },
  };
  lambda.on(InvokeCommand).rejects(new LambdaServiceException(fault));

  await expect(deferInvokeLater()(arn, {})).rejects.toThrow(TransientError);
});
