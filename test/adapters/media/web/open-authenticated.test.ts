import { Readable } from 'node:stream';
import { expect, test } from 'vitest';
import { createOpenAuthenticated } from '../../../../adapters/media/web/open-authenticated.ts';

const url = 'http://camera/cam';
const options = { timeoutMs: 1000, signal: new AbortController().signal, caller: 'ada' };

/** Opens the camera with statuses of its responses, the last one repeated. Waits take no time. */
async function open(statuses: readonly number[]) {
  const waitsMs: number[] = [];
  const unclosed = new Set<number>();
  let requests = 0;
  const request = async () => {
    const number = (requests += 1);
    unclosed.add(number);
    const status = statuses[number - 1] ?? statuses.at(-1)!;
    return { status, url, headers: {}, body: Readable.from([]), close: () => void unclosed.delete(number) };
  };
  const setTimer = (fire: () => void, milliseconds: number) => {
    waitsMs.push(milliseconds);
    queueMicrotask(fire);
    return () => undefined;
  };
  const opener = createOpenAuthenticated({ open: request }, () => 'nonce', setTimer);
  const { status } = await opener(url, options);
  return { status, requests, waitsMs, unclosed: unclosed.size };
}

test.each([
  [[503, 200], { status: 200, requests: 2, waitsMs: [500], unclosed: 1 }],
  [[503, 503, 200], { status: 200, requests: 3, waitsMs: [500, 2000], unclosed: 1 }],
  [[503], { status: 503, requests: 3, waitsMs: [500, 2000], unclosed: 1 }],
  [[500], { status: 500, requests: 1, waitsMs: [], unclosed: 1 }],
] as const)('a camera with the statuses %j is tried again while it is busy', async (statuses, opened) => {
  expect(await open(statuses)).toEqual(opened);
});

test('a server that always states a new nonce gets the password twice', async () => {
  let requests = 0;
  const request = async () => {
    const challenge = `Digest realm="cam", nonce="${(requests += 1)}", stale=true, qop="auth"`;
    const headers = { 'www-authenticate': challenge };
    return { status: 401, url, headers, body: Readable.from([]), close: () => undefined };
  };
  const open = createOpenAuthenticated({ open: request }, () => 'nonce');
  expect((await open(url.replace('//', '//user:p@'), options)).status).toBe(401);
  expect(requests).toBe(3);
});

test('a camera that refuses without a challenge gets the password', async () => {
  const sent: unknown[] = [];
  const request = async (_url: string, { headers }: { headers?: Record<string, string> | undefined }) => {
    sent.push(headers?.['Authorization']);
    return {
      status: sent.length > 1 ? 200 : 401,
      url,
      headers: {},
      body: Readable.from([]),
      close: () => undefined,
    };
  };
  const open = createOpenAuthenticated({ open: request }, () => 'nonce');
  expect((await open(url.replace('//', '//user:p@'), options)).status).toBe(200);
  expect(sent).toEqual([undefined, `Basic ${btoa('user:p')}`]);
});
