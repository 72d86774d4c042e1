import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { openLocally } from '../../support/servers/local-server.ts';

/**
 * Server for the part of S3's protocol that the media store uses: whole objects by key. `requests` holds method,
 * path and headers.
 */
export async function startS3Server() {
  const objects = new Map<string, { bytes: Buffer; type: string }>();
  const requests: { method: string; path: string; headers: IncomingMessage['headers'] }[] = [];
  const server = createServer((request, response) => void answer(request, response));

  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { method = '', url = '', headers } = request;
    const path = new URL(url, 'http://s3').pathname;
    requests.push({ method, path, headers });
    const object = objects.get(path);
    if (method === 'PUT') {
      const bytes = Buffer.concat(await request.toArray());
      objects.set(path, { bytes, type: headers['content-type'] ?? '' });
      response.end();
    } else if (method === 'GET' && url.includes('list-type=2')) {
      const query = new URL(url, 'http://s3').searchParams;
      const folder = `${path.replace(/\/$/, '')}/`;
      const keys = [...objects.keys()]
        .map((each) => each.slice(folder.length))
        .filter((key) => key.startsWith(query.get('prefix') ?? ''))
        .slice(0, 2);
      const contents = keys.map((key) => `<Contents><Key>${key}</Key></Contents>`).join('');
      response.setHeader('content-type', 'application/xml');
      response.end(`<ListBucketResult>${contents}</ListBucketResult>`);
    } else if (method === 'POST' && url.includes('?delete')) {
      const body = Buffer.concat(await request.toArray()).toString();
      for (const [, key] of body.matchAll(/<Key>([^<]*)<\/Key>/g))
        objects.delete(`${path.replace(/\/$/, '')}/${key}`);
      response.setHeader('content-type', 'application/xml').end('<DeleteResult/>');
    } else if (object)
      sendRange(response.setHeader('content-type', object.type), object.bytes, headers.range);
    else {
      response.writeHead(404, { 'content-type': 'application/xml' });
      response.end(
        '<Error><Code>NoSuchKey</Code><Message>The specified key does not exist.</Message></Error>',
      );
    }
  }

  function sendRange(response: ServerResponse, bytes: Buffer, range = 'bytes=0-'): void {
    const [first = 0, last = bytes.length - 1] = (range.match(/\d+/g) ?? []).map(Number);
    if (first < bytes.length) return void response.end(bytes.subarray(first, last + 1));
    response.writeHead(416, { 'content-type': 'application/xml' });
    response.end('<Error><Code>InvalidRange</Code><Message>Not satisfiable</Message></Error>');
  }

  const { url, close } = await openLocally(server);
  return {
    endpoint: url(''),
    requests,
    /** Returns all keys and objects. */
    readAll: () => [...objects].map(([key, { bytes }]) => `${key}\n${bytes.toString('latin1')}`).join('\n'),
    clear: () => objects.clear(),
    close,
  };
}
