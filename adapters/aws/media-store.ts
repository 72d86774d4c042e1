import { createHash } from 'node:crypto';
import { escapeUriPath } from '@smithy/core/protocols';
import type { MediaStore } from '../../core/ports/media-store.ts';
import { mediaFolders } from '../../core/watch/evidence.ts';
import { hasName, throwCoreError } from './aws-error.ts';
import type { AwsRequest, AwsRequests } from './requests/aws-requests.ts';

/** Requests to S3 and bucket of media. */
export type MediaStoreOptions = { requests: AwsRequests; bucket: string };

/**
 * Creates the media store on S3. The bucket's lifecycle rule deletes old objects. Its methods throw
 * `TransientError`.
 */
export function createMediaStore({ requests, bucket }: MediaStoreOptions): MediaStore {
  const send = async (request: Omit<AwsRequest, 'service' | 'bucket'>) =>
    requests({ ...request, service: 's3', bucket }).catch(throwCoreError);
  const readText = async (request: Omit<AwsRequest, 'service' | 'bucket'>) =>
    Buffer.from((await send(request)).body).toString();
  const remove: MediaStore['remove'] = async (keys) => {
    const body = toDeletion(keys);
    const checksum = createHash('sha256').update(body).digest('base64');
    const headers = { 'content-type': 'application/xml', 'x-amz-checksum-sha256': checksum };
    const answer = await readText({ method: 'POST', path: '/', query: { delete: '' }, headers, body });
    const [refused] = readElements(answer, 'Code');
    if (refused !== undefined) throw new Error(`A media object was not deleted: ${refused}`);
  };
  return {
    put: async (key, bytes, contentType) => {
      const headers = { 'content-type': contentType };
      await send({ method: 'PUT', path: toPath(key), headers, body: bytes });
    },
    get: async (key) => {
      try {
        return (await send({ method: 'GET', path: toPath(key) })).body;
      } catch (error) {
        if (hasName(error, 'NoSuchKey')) return undefined;
        throw error;
      }
    },
    remove,
    removeOfSource: async (sourceId) => {
      let removed = 0;
      for (const prefix of mediaFolders(sourceId)) {
        for (;;) {
          // The first page again: its objects are deleted. A page has at most as many as one deletion.
          const query = { 'list-type': '2', 'encoding-type': 'url', prefix };
          const page = await readText({ method: 'GET', path: '/', query });
          const keys = readElements(page, 'Key').map((key) => decodeURIComponent(key.replaceAll('+', ' ')));
          if (keys.length === 0) break;
          await remove(keys);
          removed += keys.length;
        }
      }
      return removed;
    },
  };
}

function toPath(key: string): string {
  return `/${escapeUriPath(key)}`;
}

function toDeletion(keys: readonly string[]): string {
  const objects = keys.map((key) => `<Object><Key>${escapeXml(key)}</Key></Object>`);
  return `<Delete xmlns="http://s3.amazonaws.com/doc/2006-03-01/"><Quiet>true</Quiet>${objects.join('')}</Delete>`;
}

function escapeXml(text: string): string {
  return text.replace(/[<>&"]/g, (character) => `&#${character.charCodeAt(0)};`);
}

/** Reads the texts of an element. Keys are percent-encoded, and codes are words, so no text has an entity. */
function readElements(xml: string, element: string): string[] {
  return [...xml.matchAll(new RegExp(`<${element}>([^<]*)</${element}>`, 'g'))].map(([, text = '']) => text);
}
