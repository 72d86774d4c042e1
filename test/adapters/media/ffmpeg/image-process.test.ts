import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { startImageProcess } from '../../../../adapters/media/ffmpeg/image-process.ts';

/**
 * Program that answers each JPEG with a picture of one byte, its length modulo 251, and holds back two pictures. From
 * the tenth picture on it holds back three, as ffmpeg sometimes does.
 */
const program = `#!${process.execPath}
let rest = Buffer.alloc(0);
const held = [];
let count = 0;
process.stdin.on('data', (chunk) => {
  rest = Buffer.concat([rest, chunk]);
  for (let end; (end = rest.indexOf(Buffer.from([0xff, 0xd9]))) >= 0; rest = rest.subarray(end + 2)) {
    held.push(end % 251);
    count += 1;
    while (held.length > (count < 10 ? 2 : 3)) process.stdout.write(Buffer.from([held.shift()]));
  }
});
`;

const realTimer = setTimeout;
let folder: string;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'watchpost-image-'));
  writeFileSync(join(folder, 'program'), program);
  chmodSync(join(folder, 'program'), 0o755);
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
});

afterEach(() => {
  vi.useRealTimers();
  rmSync(folder, { recursive: true });
});

test('a process that begins to hold back one more picture is given one more mark, without a wait for each picture', async () => {
  const images = startImageProcess(join(folder, 'program'), 'null', 1);
  const decode = (bytes: number) =>
    images.decode(Buffer.concat([Buffer.alloc(bytes), Buffer.from([0xff, 0xd9])]), 60_000);
  const afterNudges = async (picture: Promise<Uint8Array | null>) => {
    // The program is given real time to answer the last mark.
    const pause = () => new Promise<'pending'>((resolve) => realTimer(() => resolve('pending'), 50));
    while ((await Promise.race([picture, pause()])) === 'pending') await vi.advanceTimersByTimeAsync(150);
    return picture;
  };

  expect(await afterNudges(decode(1))).toEqual(Buffer.from([1]));
  for (const bytes of [2, 3, 4, 5, 6]) await afterNudges(decode(bytes));

  for (const bytes of [7, 8, 9]) expect(await decode(bytes)).toEqual(Buffer.from([bytes]));
  images.close();
});
