import { S3Client } from '@aws-sdk/client-s3';
import { mockClient } from 'aws-sdk-client-mock';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createMediaStore } from '../../../adapters/aws/media-store.ts';
import { TransientError } from '../../../core/errors.ts';
import { describeMediaStore } from '../../contract/media-store.contract.ts';
import { startS3Server } from './s3-server.ts';

let server: Awaited<ReturnType<typeof startS3Server>>;
let client: S3Client;

beforeAll(async () => {
  server = await startS3Server();
  client = new S3Client({
    region: 'eu-west-1',
    endpoint: server.endpoint,
    forcePathStyle: true,
    credentials: { accessKeyId: 'a', secretAccessKey: 'b' },
  });
});

afterAll(async () => {
  client.destroy();
  await server.close();
});

describeMediaStore('S3', async () => {
  server.clear();
  return createMediaStore({ client, bucket: 'pictures' });
});

test('an object has its content type', async () => {
  await createMediaStore({ client, bucket: 'pictures' }).put(
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

test('a removal ends after the request that has removed enough, and continues', async () => {
  const store = createMediaStore({ client, bucket: 'pictures' });
  for (const key of ['captures/many/1.jpg', 'captures/many/2.jpg', 'evidence/7/many/1.jpg'])
    await store.put(key, Buffer.from('x'), 'image/jpeg');

  expect(await store.removeOfSource('many', 1)).toBe(2);
  expect(await store.removeOfSource('many', 1)).toBe(1);
  expect(await store.removeOfSource('many', 1)).toBe(0);
});

test('throttling by S3 is a TransientError, a missing permission is not', async () => {
  const other = new S3Client({ region: 'eu-west-1' });
  const s3 = mockClient(other);
  const store = createMediaStore({ client: other, bucket: 'pictures' });
  const named = (name: string, httpStatusCode: number) =>
    Object.assign(new Error(name), { name, $metadata: { httpStatusCode } });
  s3.onAnyCommand().rejectsOnce(named('SlowDown', 503)).rejectsOnce(named('AccessDenied', 403));

  await expect(store.get('captures/a.jpg')).rejects.toThrow(TransientError);
  await expect(store.get('captures/a.jpg')).rejects.toMatchObject({ name: 'AccessDenied' });
});
