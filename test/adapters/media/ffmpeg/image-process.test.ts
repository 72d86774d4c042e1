import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { startImageProcess } from '../../../../adapters/media/ffmpeg/image-pool.ts';

/**
 * Returns the source of a program that answers each JPEG with a picture of one byte, `answer`. It holds back
 * `heldBack` pictures. Both are expressions of the `count` of all JPEGs, the `length` of this one, and the number of
 * `marks` behind the last JPEG that had another length.
 */
const programThat = (heldBack: string, answer: string) => `#!${process.execPath}
let rest = Buffer.alloc(0);
const held = [];
let count = 0;
let mark;
let marks = 0;
process.stdin.on('data', (chunk) => {
  rest = Buffer.concat([rest, chunk]);
  for (let length; (length = rest.indexOf(Buffer.from([0xff, 0xd9]))) >= 0; rest = rest.subarray(length + 2)) {
    mark ??= length;
    held.push(${answer});
    marks = length === mark ? marks + 1 : 0;
    count += 1;
    while (held.length > (${heldBack})) process.stdout.write(Buffer.from([held.shift()]));
  }
});
`;

const realTimer = setTimeout;
let folder: string;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'watchpost-image-'));
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
});

afterEach(() => {
  vi.useRealTimers();
  rmSync(folder, { recursive: true });
});

function start(program: string) {
  writeFileSync(join(folder, 'program'), program);
  chmodSync(join(folder, 'program'), 0o755);
  const images = startImageProcess(join(folder, 'program'), 'null', 1);
  const decode = (bytes: number) =>
    images.decode(Buffer.concat([Buffer.alloc(bytes), Buffer.from([0xff, 0xd9])]), 60_000);
  return { ...images, decode };
}

/** Lets time pass until the picture is there. The program is given real time to answer the last mark. */
async function afterNudges(picture: Promise<Uint8Array | null>): Promise<Uint8Array | null> {
  const pause = () => new Promise<'pending'>((resolve) => realTimer(() => resolve('pending'), 50));
  while ((await Promise.race([picture, pause()])) === 'pending') await vi.advanceTimersByTimeAsync(150);
  return picture;
}

test('a process that begins to hold back one more picture is given one more mark, without a wait for each picture', async () => {
  const { decode, close } = start(programThat('count < 10 ? 2 : 3', 'length % 251'));

  expect(await afterNudges(decode(1))).toEqual(Buffer.from([1]));
  for (const bytes of [2, 3, 4, 5, 6]) await afterNudges(decode(bytes));

  for (const bytes of [7, 8, 9]) expect(await decode(bytes)).toEqual(Buffer.from([bytes]));
  close();
});

test('a process that was slow once is given no more marks for each later picture than before', async () => {
  const marksBefore = 'length === mark ? 200 : marks';
  // At first it holds back 20. Then marks are on their way until the next JPEG is decoded.
  const { decode, close } = start(programThat('count < 30 ? 20 : marks < 2 ? 99 : marks', marksBefore));

  await afterNudges(decode(1));
  const later = [];
  for (const bytes of [2, 3, 4, 5]) later.push(await afterNudges(decode(bytes)));

  expect(later.slice(1).map((picture) => picture?.[0])).toEqual([4, 4, 4]);
  close();
});
