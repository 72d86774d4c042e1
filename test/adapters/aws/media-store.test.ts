import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { createMediaStore } from '../../../adapters/aws/media-store.ts';
import type { AwsRequests } from '../../../adapters/aws/requests/aws-requests.ts';
import { TransientError } from '../../../core/errors.ts';
import { describeMediaStore } from '../../contract/media-store.contract.ts';
import { localRequests, serviceError } from './requests/local-requests.ts';
import { startS3Server } from './s3-server.ts';

let server: Awaited<ReturnType<typeof startS3Server>>;
let requests: AwsRequests;

beforeAll(async () => {
  server = await startS3Server();
  requests = localRequests({ endpoint: server.endpoint });
});

afterAll(() => server.close());

describeMediaStore('S3', async () => {
  server.clear();
  return createMediaStore({ requests, bucket: 'pictures' });
});

describe('media store on S3', () => {
  test('an object has its content type', async () => {
    await createMediaStore({ requests, bucket: 'pictures' }).put(
      'captures/a.jpg',
      Buffer.from('x'),
      'image/jpeg',
    );

    expect(server.requests.at(-1)).toMatchObject({
      method: 'PUT',
      path: '/pictures/captures/a.jpg',
      headers: { 'content-type': 'image/jpeg' },
    });
  });

  test('throttling by S3 is a TransientError, a missing permission is not', async () => {
    const refusing = vi
      .fn<AwsRequests>()
      .mockRejectedValueOnce(serviceError('SlowDown', 503))
      .mockRejectedValueOnce(serviceError('AccessDenied', 403));
    const store = createMediaStore({ requests: refusing, bucket: 'pictures' });

    await expect(store.get('captures/a.jpg')).rejects.toThrow(TransientError);
    await expect(store.get('captures/a.jpg')).rejects.toMatchObject({ name: 'AccessDenied' });
  });
});
