import {
  DeleteObjectsCommand,
  GetObjectCommand,
  ListObjectsV2Command,
  NoSuchKey,
  PutObjectCommand,
  S3Client,
} from '@aws-sdk/client-s3';
import type { MediaStore } from '../../core/ports/media-store.ts';
import { mediaFolders } from '../../core/policies/watch/evidence.ts';
import { throwCoreError } from './aws-error.ts';
import { clientSettings } from './client-settings.ts';

/** S3 client (default: one of its own) and bucket of media. */
export type MediaStoreOptions = { client?: S3Client; bucket: string };

/**
 * Creates the media store on S3. The bucket's lifecycle rule deletes old objects. Its methods throw
 * `TransientError`.
 */
export function createMediaStore({
  client = new S3Client(clientSettings),
  bucket,
}: MediaStoreOptions): MediaStore {
  const remove: MediaStore['remove'] = async (keys) => {
    const Objects = keys.map((key) => ({ Key: key }));
    const command = new DeleteObjectsCommand({ Bucket: bucket, Delete: { Objects, Quiet: true } });
    const { Errors: [refused] = [] } = await client.send(command).catch(throwCoreError);
    if (refused) throw new Error(`A media object was not deleted: ${refused.Code ?? 'unknown reason'}`);
  };
  return {
    put: async (key, bytes, contentType) => {
      await client
        .send(new PutObjectCommand({ Bucket: bucket, Key: key, Body: bytes, ContentType: contentType }))
        .catch(throwCoreError);
    },
    get: async (key, range) => {
      const Range = range && `bytes=${range.first}-${range.last}`;
      try {
        const { Body } = await client.send(new GetObjectCommand({ Bucket: bucket, Key: key, Range }));
        return await Body?.transformToByteArray();
      } catch (error) {
        if (error instanceof NoSuchKey) return undefined;
        // The range begins after the end.
        if (error instanceof Error && error.name === 'InvalidRange') return new Uint8Array();
        return throwCoreError(error);
      }
    },
    remove,
    removeOfSource: async (sourceId, enough = Infinity) => {
      let removed = 0;
      for (const Prefix of mediaFolders(sourceId)) {
        while (removed < enough) {
          // The first page again: its objects are deleted. A page has at most as many as one deletion.
          const command = new ListObjectsV2Command({ Bucket: bucket, Prefix });
          const { Contents = [] } = await client.send(command).catch(throwCoreError);
          const keys = Contents.flatMap(({ Key }) => Key ?? []);
          if (keys.length === 0) break;
          await remove(keys);
          removed += keys.length;
        }
      }
      return removed;
    },
  };
}
