import { DeleteObjectsCommand, GetObjectCommand, NoSuchKey, PutObjectCommand } from '@aws-sdk/client-s3';
import type { S3Client } from '@aws-sdk/client-s3';
import type { MediaStore } from '../../core/ports/media-store.ts';
import { throwCoreError } from './aws-error.ts';

/** S3 client and bucket of media. */
export type MediaStoreOptions = { client: S3Client; bucket: string };

/**
 * Creates the media store on S3. The bucket's lifecycle rule deletes objects after a day. Its methods throw
 * `TransientError`.
 */
export function createMediaStore({ client, bucket }: MediaStoreOptions): MediaStore {
  return {
    put: async (key, bytes, contentType) => {
      await client
        .send(new PutObjectCommand({ Bucket: bucket, Key: key, Body: bytes, ContentType: contentType }))
        .catch(throwCoreError);
    },
    get: async (key) => {
      try {
        const { Body } = await client.send(new GetObjectCommand({ Bucket: bucket, Key: key }));
        return await Body?.transformToByteArray();
      } catch (error) {
        if (error instanceof NoSuchKey) return undefined;
        return throwCoreError(error);
      }
    },
    remove: async (keys) => {
      const Objects = keys.map((key) => ({ Key: key }));
      const command = new DeleteObjectsCommand({ Bucket: bucket, Delete: { Objects, Quiet: true } });
      const { Errors: [refused] = [] } = await client.send(command).catch(throwCoreError);
      if (refused) throw new Error(`A media object was not deleted: ${refused.Code ?? 'unknown reason'}`);
    },
  };
}
