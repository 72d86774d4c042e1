import { expect, test } from 'vitest';
import { arrangeSamples } from '../../../adapters/vision/prompted-vision.ts';
import { VisionError } from '../../../core/vision-errors.ts';
import type { ContactSheets } from '../../../core/ports/stream-capturer.ts';
import type { Sample } from '../../../core/ports/vision-model.ts';

const never = new AbortController().signal;

function samples(count: number): Sample[] {
  return Array.from({ length: count }, (_, at) => ({
    frame: new Uint8Array([at]),
    capturedAt: new Date(Date.UTC(2026, 0, 1, 12, at)),
  }));
}

/** Contact sheets that finish on demand. `pending` holds the unfinished ones, oldest first. */
function workshop() {
  const pending: { first: number; finish: () => void; fail: (error: Error) => void }[] = [];
  let begun = 0;
  const sheets: ContactSheets = {
    make: ([first, ...others]) => {
      begun += 1;
      const { promise, resolve, reject } = Promise.withResolvers<Uint8Array>();
      const bytes = [first, ...others].flatMap((sample) => [...(sample?.frame ?? [])]);
      pending.push({ first: bytes[0]!, finish: () => resolve(new Uint8Array(bytes)), fail: reject });
      return promise;
    },
  };
  const settle = () => new Promise((done) => setImmediate(done));
  return { sheets, pending, settle, begun: () => begun };
}

test('contact sheets are created concurrently, up to a limit', async () => {
  const { sheets, pending, settle, begun } = workshop();
  const arranging = arrangeSamples(samples(120), 20, sheets, never);
  await settle();
  expect(begun()).toBe(4);

  pending.shift()!.finish();
  await settle();
  expect([begun(), pending.length]).toEqual([5, 4]);

  for (; pending.length > 0; await settle()) pending.shift()!.finish();
  expect(await arranging).toHaveLength(20);
});

test('contact sheets are returned in order, regardless of which finishes first', async () => {
  const { sheets, pending, settle } = workshop();
  const arranging = arrangeSamples(samples(45), 5, sheets, never);
  await settle();

  for (; pending.length > 0; await settle()) pending.pop()!.finish();

  const pictures = await arranging;
  expect(pictures.flatMap(({ jpeg }) => [...jpeg])).toEqual(samples(45).flatMap(({ frame }) => [...frame]));
  expect(pictures.flatMap(({ times }) => times)).toEqual(samples(45).map(({ capturedAt }) => capturedAt));
});

test('a failed contact sheet fails the call and starts no further one', async () => {
  const { sheets, pending, settle, begun } = workshop();
  const arranging = arrangeSamples(samples(120), 20, sheets, never);
  const failure = new VisionError('Try again.');
  const failed = expect(arranging).rejects.toBe(failure);
  await settle();

  pending[1]!.fail(failure);
  await failed;
  for (const sheet of pending) sheet.finish();
  await settle();

  expect(begun()).toBe(4);
});
