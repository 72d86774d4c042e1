import { expect, test } from 'vitest';
import { defaultPictureLimits } from '../../../../adapters/media/pictures/picture-limits.ts';
import { readClip } from '../../../../adapters/media/pictures/read-pictures.ts';

/** Reads a clip of a second of pictures that arrive every 100 ms; 0 is a damaged one. */
async function read(names: number[]): Promise<number[]> {
  const isWhole = async ([name]: Uint8Array) => name !== 0;
  const frames = await readClip(arrive(names), 1, defaultPictureLimits, isWhole);
  return frames.map(([name]) => name ?? 0);
}

async function* arrive(names: number[]) {
  for (const [index, name] of names.entries())
    yield { jpeg: new Uint8Array([name]), atMs: 5_000 + 100 * index };
}

test('a clip has whole pictures only, and begins with one', async () => {
  const more = Array.from({ length: 16 }, (_, index) => 10 + index);
  expect(await read(more)).toHaveLength(5);
  expect(await read([1, 2, 3, 4, 0, 0, 0, ...more])).not.toContain(0);
  expect((await read([0, 0, 0, 0, 0, ...more])).at(0)).toBeGreaterThanOrEqual(10);
});

test('a clip of a stream with too few whole pictures is damaged', async () => {
  await expect(read([1, ...Array<number>(12).fill(0)])).rejects.toMatchObject({ isDamaged: true });
  await expect(read([0, 0, 0, 0])).rejects.toMatchObject({ isDamaged: true });
  await expect(read([1, 2])).rejects.toMatchObject({ isDamaged: false });
});
