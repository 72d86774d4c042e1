import { InvokeCommand, LambdaClient } from '@aws-sdk/client-lambda';
import { mockClient } from 'aws-sdk-client-mock';
import { beforeEach, expect, test } from 'vitest';
import { createInvoke, createInvokeLater } from '../../../../adapters/aws/invoke/create-invoke.ts';
import { InvocationError } from '../../../../adapters/aws/invoke/invoke.ts';
import { TransientError } from '../../../../core/errors.ts';

const client = new LambdaClient({ region: 'eu-west-1' });
const lambda = mockClient(client);
const invoke = createInvoke('watchpost-capture', client);
const signal = new AbortController().signal;
const payload = (value: unknown) => {
  const bytes = Buffer.from(JSON.stringify(value));
  return Object.assign(bytes, { transformToString: () => bytes.toString() });
};

beforeEach(() => void lambda.reset());

test('a function is invoked with JSON and returns JSON', async () => {
  lambda.on(InvokeCommand).resolves({ StatusCode: 200, Payload: payload({ kind: 'done', value: 'ü' }) });

  expect(await invoke({ operation: 'probe' }, signal)).toEqual({ kind: 'done', value: 'ü' });
  expect(lambda.commandCalls(InvokeCommand)[0]?.args[0].input).toEqual({
    FunctionName: 'watchpost-capture',
    Payload: '{"operation":"probe"}',
  });
});

test('an unexpected error of the function is a defect without internals', async () => {
  lambda.on(InvokeCommand).resolves({
    FunctionError: 'Unhandled',
    Payload: payload({ errorMessage: 'rtsp://user:secret@camera' }),
  });

  const failure = await invoke({}, signal).catch((error: unknown) => error);

  expect(failure).toBeInstanceOf(InvocationError);
  expect(String(failure)).not.toContain('secret');
});

test('a function at its concurrency limit is a TransientError', async () => {
  const throttled = { name: 'TooManyRequestsException', $metadata: { httpStatusCode: 429 } };
  lambda.on(InvokeCommand).rejects(Object.assign(new Error('slow down'), throttled));

  await expect(invoke({}, signal)).rejects.toThrow(TransientError);
});

test('an asynchronous invocation has its event as JSON', async () => {
  lambda.on(InvokeCommand).resolves({ StatusCode: 202 });

  await createInvokeLater(client)('arn:aws:lambda:eu-west-1:1:function:watchpost:live', { shard: '3' });

  expect(lambda.commandCalls(InvokeCommand)[0]?.args[0].input).toEqual({
    FunctionName: 'arn:aws:lambda:eu-west-1:1:function:watchpost:live',
    InvocationType: 'Event',
    Payload: '{"shard":"3"}',
  });
});

test('a throttled asynchronous invocation is a TransientError', async () => {
  const throttled = { name: 'TooManyRequestsException', $metadata: { httpStatusCode: 429 } };
  lambda.on(InvokeCommand).rejects(Object.assign(new Error('slow down'), throttled));

  await expect(createInvokeLater(client)('watchpost', {})).rejects.toThrow(TransientError);
});
