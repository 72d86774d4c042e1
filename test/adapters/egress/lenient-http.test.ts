import { createServer, type AddressInfo } from 'node:net';
import { Readable } from 'node:stream';
import { brotliCompressSync, deflateSync, gzipSync } from 'node:zlib';
import { afterEach, describe, expect, test } from 'vitest';
import { collectBytes, decodeBody } from '../../../adapters/egress/read-body.ts';
import { createCookieJar } from '../../../adapters/egress/cookies.ts';
import { createEgressGuard } from '../../../adapters/egress/guard.ts';
import { createGuardedHttp, type OpenResponse } from '../../../adapters/egress/guarded-http.ts';

const closers: (() => Promise<unknown> | void)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0).toReversed()) await close();
});

/** Serves bytes to each request, whatever it asks for, and closes the connection. */
async function serve(...parts: string[]) {
  const requests: string[] = [];
  const server = createServer((socket) => {
    socket.on('error', () => undefined);
    socket.once('data', (head) => {
      requests.push(head.toString());
      for (const part of parts) socket.write(part, 'latin1');
      socket.end();
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  closers.push(() => new Promise((resolve) => server.close(resolve)));
  const http = createGuardedHttp(createEgressGuard({ allowRanges: ['127.0.0.1/32'] }));
  closers.push(() => http.close());
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/cam?x=1`;
  const options = {
    maxBytes: 50_000,
    timeoutMs: 3_000,
    cookies: createCookieJar(() => new Date()),
  };
  return {
    requests,
    options,
    http,
    url,
    ask: () => http.request(url, options),
    open: () => http.open(url, options),
  };
}

async function readAll({ body, close }: OpenResponse): Promise<string> {
  const read: Uint8Array[] = [];
  for await (const chunk of body) read.push(chunk);
  close();
  return Buffer.concat(read).toString();
}

const head = 'HTTP/1.1 200 OK\r\nX-A: 1\r\n';
const chunks = 'Transfer-Encoding: chunked\r\n\r\n';

describe('responses that differ from RFC 9112', () => {
  test.each<[string, string[]]>([
    ['a header line without a colon', ['HTTP/1.1 200 OK\r\nMon, 04 Mar 2013\r\nX-A: 1\r\n\r\nbody']],
    ['lines that end with LF', ['HTTP/1.0 200 OK\nX-A: 1\nContent-Length: 4\n\nbody']],
    [
      'a length beside chunks',
      [
        'HTTP/1.1 200 OK\r\nX-A: 1\r\nTransfer-Encoding: chunked\r\nContent-Length: 4\r\n\r\n',
        '2\r\nbo\r\n2',
        ';x\r\ndy\r\n0\r\n\r\n',
      ],
    ],
    ['the name ICY', ['ICY 200 OK\r\nX-A: 1\r\n\r\nbody']],
    ['no reason', ['HTTP/1.1 200\r\nX-A: 1\r\nContent-Length: 4\r\n\r\nbody']],
    ['empty lines before it', ['\n\r\nHTTP/1.1 200 OK\nX-A: 1\n\nbody']],
    ['many empty lines before it', ['\n\n\n', '\r\n'.repeat(50), 'HTTP/1.1 200 OK\nX-A: 1\n\nbody']],
    ['a head that arrives in parts', ['HTTP/1.1 200 OK\nX-A: 1\n', '\nbo', 'dy']],
    ['an interim response', ['HTTP/1.1 100 Continue\n\nHTTP/1.1 200 OK\nX-A: 1\n\nbody']],
    ['a signed length', [`${head}Content-Length: +4\r\n\r\nbody and more`]],
    ['a length twice in a line', [`${head}Content-Length: 4, 4\r\n\r\nbody and more`]],
    ['two lines of one length', [`${head}Content-Length: 4\r\nContent-Length: 4\r\n\r\nbody`]],
    ['no length, but a text', [`${head}Content-Length: unknown\r\n\r\nbody`]],
    ['sizes of chunks with spaces', [`${head}${chunks}4  \r\nbody\r\n0\r\n\r\n`]],
    ['the encoding identity', [`${head}Transfer-Encoding: identity\r\nContent-Length: 4\r\n\r\nbody`]],
    ['a line that continues', [`${head}X-B: 1\r\n\tmore\r\nContent-Length: 4\r\n\r\nbody`]],
    ['a space before a colon', [`HTTP/1.1 200 OK\r\nX-A : 1\r\nContent-Length : 4\r\n\r\nbody`]],
    ['a null byte in a value', [`${head}X-B: a\0b\r\nContent-Length: 4\r\n\r\nbody`]],
    ['a version of its own', ['HTTP/1.2 200 OK\r\nX-A: 1\r\n\r\nbody']],
    [
      'two lengths, of which the last is right',
      [`${head}Content-Length: 2\r\nContent-Length: 4\r\n\r\nbody`],
    ],
    ['sizes of chunks as in C', [`${head}${chunks}0x4\r\nbody\r\n0\r\n\r\n`]],
    [
      'the status of a range that is all',
      ['HTTP/1.1 206 Partial\r\nX-A: 1\r\nContent-Length: 4\r\n\r\nbody'],
    ],
    [
      'the status of a proxy that has changed it',
      ['HTTP/1.1 203 X\r\nX-A: 1\r\nContent-Length: 4\r\n\r\nbody'],
    ],
    ['another status of success', ['HTTP/1.1 202 OK\r\nX-A: 1\r\nContent-Length: 4\r\n\r\nbody']],
    ['a status of zeros', ['HTTP/1.1 000 OK\r\nX-A: 1\r\nContent-Length: 4\r\n\r\nbody']],
    ['a status that HTTP does not have', ['HTTP/1.1 700 OK\r\nX-A: 1\r\nContent-Length: 4\r\n\r\nbody']],
    ['the status of a redirect to nowhere', ['HTTP/1.1 300 X\r\nX-A: 1\r\nContent-Length: 4\r\n\r\nbody']],
    ['a length of 0 before a body', [`${head}Content-Length: 0\r\n\r\nbody`]],
    ['a head of 30 kB', [`${head}${'X-B: 1234567890\r\n'.repeat(1_800)}Content-Length: 4\r\n\r\nbody`]],
    ['an encoding that its bytes do not have', [`${head}Content-Encoding: gzip\r\n\r\nbody`]],
    ['brotli stated for other bytes', [`${head}Content-Encoding: br\r\n\r\nbody`]],
    ['a second encoding that its bytes do not have', [`${head}Content-Encoding: deflate\r\n\r\nbody`]],
  ])('a response with %s is read, whole and while it arrives', async (_kind, parts) => {
    const { ask, open } = await serve(...parts);
    const { status, headers, body } = await ask();
    expect([status, headers['x-a'], Buffer.from(body).toString()]).toEqual([200, '1', 'body']);
    const opened = await open();
    const text = await readAll(opened);
    expect([opened.status, opened.headers['x-a'], text]).toEqual([200, '1', 'body']);
  });

  test.each<[string, Buffer]>([
    ['a playlist', Buffer.from('#EXTM3U\n#EXT-X-VERSION:3\n#EXTINF:2,\na.ts\n'.repeat(50))],
    ['a JPEG', Buffer.concat([Buffer.from('ffd8ffe000104a464946000101', 'hex'), Buffer.alloc(2_000, 7)])],
    ['a transport stream', Buffer.from(`G@\x11\x10\0B\xf0%\0${'\xff'.repeat(179)}`.repeat(20), 'latin1')],
    ['an MP4', Buffer.from(`\0\0\0\x18styp\0\0\0\0msdhmsix${'\0'.repeat(2_000)}`, 'latin1')],
    [
      'parts',
      Buffer.from(`--frame\r\nContent-Type: image/jpeg\r\n\r\n\xff\xd8\xff${'a'.repeat(2_000)}`, 'latin1'),
    ],
  ])(
    'the bytes of %s are not decoded, though brotli is stated, and those of brotli are',
    async (_, bytes) => {
      for (const sent of [bytes, brotliCompressSync(bytes)]) {
        const { ask } = await serve(`${head}Content-Encoding: br\r\n\r\n`, sent.toString('latin1'));
        expect(Buffer.from((await ask()).body).equals(bytes)).toBe(true);
      }
    },
  );

  test.each([
    ['br', brotliCompressSync],
    ['gzip', gzipSync],
    ['deflate', deflateSync],
  ])('a body of %s is decoded however small its first chunks are', async (encoding, compress) => {
    const text = 'a playlist '.repeat(500);
    const bytes = [...compress(text)].map((byte) => Uint8Array.of(byte));
    const decoded = decodeBody(Readable.from(bytes), { 'content-encoding': encoding }, 100_000);
    expect(Buffer.from(await collectBytes(decoded, 100_000)).toString()).toBe(text);
  });

  test.each([
    [401, 1],
    [205, 1],
    [203, 2],
    [700, 2],
  ])('a response of status %i without a body is asked for %i times', async (status, times) => {
    const { ask, requests } = await serve(`HTTP/1.1 ${status} X\r\nContent-Length: 0\r\n\r\n`);
    expect((await ask()).status).toBe(times === 1 ? status : 200);
    expect(requests).toHaveLength(times);
  });

  test('a body of many parts is read beyond the length of one', async () => {
    const type = 'Content-Type: multipart/x-mixed-replace\r\n';
    const { open } = await serve(`${head}${type}Content-Length: 4\r\n\r\nbody and more`);
    expect(await readAll(await open())).toBe('body and more');
  });

  test('repeated headers are joined', async () => {
    const { open } = await serve('HTTP/1.1 401 No\nWWW-Authenticate: Basic\nWWW-Authenticate: Digest\n\n');
    const opened = await open();
    opened.close();
    expect(opened.headers['www-authenticate']).toBe('Basic, Digest');
  });

  test('a part of a resource stays a part where it was asked for', async () => {
    const { http, url, options } = await serve('HTTP/1.1 206 Partial\r\nContent-Length: 4\r\n\r\nbody');
    const answer = await http.request(url, { ...options, headers: { range: 'bytes=0-3' } });
    expect(answer.status).toBe(206);
  });

  test('a body whose parts are malformed is said to be malformed', async () => {
    const { open } = await serve(`${head}${chunks}hello\r\n`);
    await expect(readAll(await open())).rejects.toMatchObject({ fault: 'malformed' });
  });

  test.each(['#EXTM3U\n#EXTINF:2,\n', '\n\n#EXTM3U\n', '\n\nabc', '\n\n\n\r\nab', 'abc'])(
    'a response without a head is its body: %j',
    async (sent) => {
      const { open } = await serve(sent);
      expect(await readAll(await open())).toBe(sent);
    },
  );

  test('a refusal behind many empty lines has its status', async () => {
    const { open } = await serve('\n\n\nHTTP/1.1 401 No\n\n');
    const opened = await open();
    opened.close();
    expect(opened.status).toBe(401);
  });

  test.each(['', '\n\n\n\n', 'HT', '\n\nIC'])(
    'a connection that is closed behind %j has no response',
    async (sent) => {
      const { open } = await serve(sent);
      await expect(open()).rejects.toThrow('closed early');
    },
  );

  test('cookies and status are kept, and each request has a connection of its own', async () => {
    const { ask, requests } = await serve(
      'HTTP/1.1 404 Gone\nno colon\nSet-Cookie: a=1\nSet-Cookie: b=2\n\n',
    );
    expect((await ask()).status).toBe(404);
    await ask();
    expect(requests[1]).toContain('GET /cam?x=1 HTTP/1.1\r\nHost: 127.0.0.1:');
    expect(requests.at(-1)).toContain('Cookie: a=1; b=2\r\n');
  });

  test('a body can be read while it arrives, and is bounded', async () => {
    const { open, ask } = await serve('HTTP/1.1 200 OK\nX: 1\n\n', 'x'.repeat(60_000));
    const opened = await open();
    for await (const chunk of opened.body) {
      expect(chunk.length).toBeGreaterThan(0);
      break;
    }
    opened.close();
    await expect(ask()).rejects.toThrow('larger than allowed');
  });

  test('the parts of a packet are joined, since it may hold thousands', async () => {
    const { open } = await serve(
      `HTTP/1.1 200 OK\nX\nTransfer-Encoding: chunked\n\n${'1\r\nx\r\n'.repeat(5_000)}0\r\n\r\n`,
    );
    const opened = await open();
    const read: Uint8Array[] = [];
    for await (const chunk of opened.body) read.push(chunk);
    opened.close();
    expect(Buffer.concat(read).toString()).toBe('x'.repeat(5_000));
    expect(read.length).toBeLessThan(50);
  });

  test('bytes of a body that is asked for again are counted once', async () => {
    const { options, requests, http, url } = await serve(`${head}${chunks}2\r\nbo\r\n2\ndy\n0\n\n`);
    let counted = 0;
    await http.request(url, {
      ...options,
      onChunk: (bytes) => (counted += bytes),
    });
    expect([requests.length, counted]).toEqual([2, 4]);
  });

  test.each<[string, string[], RegExp]>([
    ['a body shorter than its length', ['HTTP/1.1 200 OK\nContent-Length: 9\n\nbody'], /closed early/],
    ['a chunk that is cut', [`${head}${chunks}9\r\nbody`], /closed early/],
    ['a later chunk that is cut', [`${head}${chunks}2\r\nbo\r\n3\r\ndy`], /closed early/],
    ['a chunk without its bytes', [`${head}${chunks}2\r\nbo\r\n2\r\n`], /closed early/],
    ['a body that is cut between two chunks', [`${head}${chunks}4\r\nbody\r\n`], /closed early/],
    ['one that is cut behind an odd line', [`${head}odd\r\n${chunks}4\r\nbody\r\n`], /closed early/],
    ['a last chunk without its end', [`${head}${chunks}4\r\nbody`], /closed early/],
    ['a size that is cut', [`${head}${chunks}4\r\nbody\r\n1`], /closed early/],
    ['a chunk that is cut behind an odd line', [`${head}odd\r\n${chunks}9\r\nbody`], /closed early/],
    ['a head without an end', [`HTTP/1.1 200 OK\n${'x\n'.repeat(20_000)}`], /too many headers/],
    ['interim responses without an end', ['HTTP/1.1 100\n\n'.repeat(20)], /too many headers/],
    ['chunks without a size', ['HTTP/1.1 200 OK\nTransfer-Encoding: chunked\n\nhello\n'], /not HTTP/],
  ])('%s is a failure', async (_kind, parts, message) => {
    const { ask } = await serve(...parts);
    await expect(ask()).rejects.toThrow(message);
  });
});
