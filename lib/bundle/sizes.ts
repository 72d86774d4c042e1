import { readFile, writeFile } from 'node:fs/promises';
import { z } from 'zod';
import { measureFunctions } from './build-functions.ts';
import { compareSizes } from './compare-sizes.ts';

/**
 * Compares the size of each function with the recorded one.
 * Usage: npm run bench -- sizes
 *   --record         records the sizes
 */

const file = new URL('sizes.json', import.meta.url);
const built = await measureFunctions();
if (process.argv.includes('--record')) {
  const sizes = Object.fromEntries(built.map(({ name, bytes }) => [name, bytes]));
  await writeFile(file, `${JSON.stringify(sizes, null, 2)}\n`);
}
const recorded = z.record(z.string(), z.number()).parse(JSON.parse(await readFile(file, 'utf8')));
const { lines, tooLarge } = compareSizes(built, recorded);
for (const line of lines) process.stdout.write(`${line}\n`);
if (tooLarge.length > 0) {
  process.stderr.write(
    `Grown by more than 5 %: ${tooLarge.join(', ')}. Find the cause, or record the new size: npm run bench -- sizes --record\n`,
  );
  process.exitCode = 1;
}
