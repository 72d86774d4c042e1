import { beforeEach, expect, test, vi } from 'vitest';
import { createInvokeLater } from '../../../../adapters/aws/invoke/invoke-later.ts';
import type { AwsRequests } from '../../../../adapters/aws/requests/aws-requests.ts';
import { TransientError } from '../../../../core/errors.ts';
import { serviceError } from '../requests/local-requests.ts';

const requests = vi.fn<AwsRequests>();
const arn = 'arn:aws:lambda:eu-west-1:123456789012:function:watchpost:live';

beforeEach(() => void requests.mockReset());

test('a function is invoked asynchronously with JSON', async () => {
  requests.mockResolvedValue({ headers: {}, body: new Uint8Array() });

  await createInvokeLater(requests)(arn, { shard: '3', running: [] });

  expect(requests.mock.calls).toEqual([
    [
      {
        service: 'lambda',
        method: 'POST',
        path: `/2015-03-31/functions/${encodeURIComponent(arn)}/invocations`,
        headers: { 'content-type': 'application/json', 'x-amz-invocation-type': 'Event' },
        body: '{"shard":"3","running":[]}',
      },
    ],
  ]);
});

test('a throttled invocation is a TransientError', async () => {
  requests.mockRejectedValue(serviceError('TooManyRequestsException', 429));

  await expect(createInvokeLater(requests)(arn, {})).rejects.toThrow(TransientError);
});
