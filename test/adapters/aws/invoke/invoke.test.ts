import { beforeEach, expect, test, vi } from 'vitest';
import { createInvoke } from '../../../../adapters/aws/invoke/create-invoke.ts';
import { InvocationError } from '../../../../adapters/aws/invoke/invoke.ts';
import type { AwsRequests } from '../../../../adapters/aws/requests/aws-requests.ts';
import { TransientError } from '../../../../core/errors.ts';
import { serviceError } from '../requests/local-requests.ts';

const arn = 'arn:aws:lambda:eu-west-1:123456789012:function:capture:live';
const requests = vi.fn<AwsRequests>();
const invoke = createInvoke(requests, arn);
const { signal } = new AbortController();
const body = (value: unknown) => Buffer.from(JSON.stringify(value));

beforeEach(() => void requests.mockReset());

test('a function is invoked with JSON and returns JSON', async () => {
  requests.mockResolvedValue({ headers: {}, body: body({ kind: 'done', value: 'ü' }) });

  expect(await invoke({ operation: 'probe' }, signal)).toEqual({ kind: 'done', value: 'ü' });

  expect(requests.mock.calls[0]?.[0]).toMatchObject({
    service: 'lambda',
    method: 'POST',
    path: `/2015-03-31/functions/${encodeURIComponent(arn)}/invocations`,
    body: '{"operation":"probe"}',
    signal,
  });
});

test('a function may take longer than other requests, until its caller gives up', async () => {
  requests.mockResolvedValue({ headers: {}, body: body(null) });

  await invoke({}, signal);

  expect(requests.mock.calls[0]?.[0].timeoutMs).toBe(0);
});

test('an unexpected error of the function is a defect without internals', async () => {
  requests.mockResolvedValue({
    headers: { 'x-amz-function-error': 'Unhandled' },
    body: body({ errorMessage: 'rtsp://user:secret@camera' }),
  });

  const failure = await invoke({}, signal).catch((error: unknown) => error);

  expect(failure).toBeInstanceOf(InvocationError);
  expect(String(failure)).not.toContain('secret');
});

test('a function at its concurrency limit is a TransientError', async () => {
  requests.mockRejectedValue(serviceError('TooManyRequestsException', 429));

  await expect(invoke({}, signal)).rejects.toThrow(TransientError);
});
