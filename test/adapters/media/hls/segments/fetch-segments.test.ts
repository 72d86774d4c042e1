import { createCipheriv } from 'node:crypto';
import { expect, test } from 'vitest';
import type { GuardedHttp } from '../../../../../adapters/egress/guarded-http.ts';
import { fetchSegments } from '../../../../../adapters/media/hls/segments/fetch-segments.ts';
import type { Segment } from '../../../../../adapters/media/hls/playlist/playlist.ts';
import { StreamFetchError } from '../../../../../core/errors.ts';
import { newSegment } from '../../../../support/hls/new-segment.ts';

const never = new AbortController().signal;
const key = Buffer.from('0123456789abcdef');
const plain = 'a segment of more than one block';

function encrypted(iv: Buffer): Buffer {
  const cipher = createCipheriv('aes-128-cbc', key, iv);
  return Buffer.concat([cipher.update(plain), cipher.final()]);
}

/** Responds from a table, with 404 for other URLs. */
function serving(files: Record<string, Uint8Array>): { http: GuardedHttp; limits: number[] } {
  const limits: number[] = [];
  const http: GuardedHttp = {
    request: (url, { maxBytes }) => {
      limits.push(maxBytes);
      const body = files[url];
      return Promise.resolve({ status: body ? 200 : 404, url, headers: {}, body: body ?? new Uint8Array() });
    },
    close: () => Promise.resolve(),
  };
  return { http, limits };
}

async function fetched(files: Record<string, Uint8Array>, segments: Segment[]): Promise<string[]> {
  const { http } = serving(files);
  const parts: string[] = [];
  const fetching = fetchSegments({ http, captureBytes: 3000, requestTimeoutMs: 1000 }, segments, never);
  for await (const part of fetching) parts.push(Buffer.from(part).toString());
  return parts;
}

test('fetchSegments yields the media initialization section once, then the segments in order', async () => {
  const initialization = { url: 'https://cdn.example/init.mp4', byteRange: null };
  const segments = ['1', '2'].map((name) =>
    newSegment({ url: `https://cdn.example/${name}.m4s`, initialization }),
  );
  const files = {
    'https://cdn.example/init.mp4': Buffer.from('init'),
    'https://cdn.example/1.m4s': Buffer.from('one'),
    'https://cdn.example/2.m4s': Buffer.from('two'),
  };
  expect(await fetched(files, segments)).toEqual(['init', 'one', 'two']);
});

test.each([
  ['0000000100000002', 2n ** 32n + 2n],
  ['0020000000000001', 2n ** 53n + 1n],
  ['ffffffffffffffff', 2n ** 64n - 1n],
])(
  'decrypts with the media sequence number 0x%s if no initialization vector is given',
  async (digits, sequence) => {
    const iv = Buffer.from(digits.padStart(32, '0'), 'hex');
    const files = { 'https://cdn.example/1.ts': encrypted(iv), 'https://cdn.example/key': key };
    const one = newSegment({
      sequence,
      key: { method: 'AES-128', url: 'https://cdn.example/key', iv: null },
    });
    expect(await fetched(files, [one])).toEqual([plain]);
  },
);

test('fetchSegments uses the given initialization vector', async () => {
  const iv = Buffer.from('ffeeddccbbaa99887766554433221100', 'hex');
  const files = { 'https://cdn.example/1.ts': encrypted(iv), 'https://cdn.example/key': key };
  const one = newSegment({ key: { method: 'AES-128', url: 'https://cdn.example/key', iv } });
  expect(await fetched(files, [one])).toEqual([plain]);
});

const lenientKey = Buffer.concat([key, Buffer.from('\n')]);
const whole = Buffer.from('a segment of exactly two blocks.');
const unpadded = createCipheriv('aes-128-cbc', key, Buffer.alloc(16)).setAutoPadding(false);
test.each([
  ['a line end behind the key', lenientKey, encrypted(Buffer.alloc(16)), plain],
  ['no padding', key, Buffer.concat([unpadded.update(whole), unpadded.final()]), whole.toString()],
  [
    'bytes behind the last block',
    key,
    Buffer.concat([encrypted(Buffer.alloc(16)), Buffer.from('tail')]),
    plain,
  ],
])('a segment with %s is decrypted as players do', async (_, keyFile, body, expected) => {
  const files = { 'https://cdn.example/1.ts': body, 'https://cdn.example/key': keyFile };
  const url = 'https://cdn.example/key';
  const one = newSegment({ key: { method: 'AES-128', url, iv: Buffer.alloc(16) } });
  expect(await fetched(files, [one])).toEqual([expected]);
});

test('fetchSegments divides its byte limit among concurrent requests', async () => {
  const file = Buffer.from('x');
  const { http, limits } = serving({ 'https://cdn.example/1.ts': file });
  const fetching = fetchSegments(
    { http, captureBytes: 3000, requestTimeoutMs: 1000 },
    [newSegment({}), newSegment({})],
    never,
  );
  for await (const part of fetching) expect(Buffer.from(part)).toEqual(file);
  expect(limits).toEqual([1000, 1000]);
});

test('fetchSegments stops at the first failure and ignores later ones', async () => {
  const missing = newSegment({ url: 'https://cdn.example/gone.ts' });
  await expect(fetched({}, [missing, missing, missing])).rejects.toBeInstanceOf(StreamFetchError);
});
