import { parseArgs } from 'node:util';
import fc from 'fast-check';
import { fuzzed } from './properties.ts';
import { realMedia } from './real-media.ts';

/**
 * Parses mutated playlists, segments, JPEGs, session descriptions and RTSP messages, and puts crafted pictures between
 * those of other streams. Prints its seed, and the cases of each kind.
 * Usage: npm run fuzz -- media
 *   --runs 20000     cases
 *   --seconds 240    maximum duration of each kind
 *   --seed 1         repeats the run of this seed
 *   --only playlists  only the kind of this name
 */
const { values } = parseArgs({
  options: {
    runs: { type: 'string', default: '20000' },
    seconds: { type: 'string', default: '86400' },
    seed: { type: 'string' },
    only: { type: 'string' },
  },
});
const seed = Number(values.seed ?? Date.now() % 2 ** 31);
const runs = Number(values.runs);
console.log(`seed ${seed}`);
let failed = 0;
for (const { name, share, batch = 1, property, counts } of fuzzed(await realMedia())) {
  if (values.only !== undefined && values.only !== name) continue;
  const numRuns = Math.ceil((runs * share) / 100 / batch);
  const began = performance.now();
  const interruptAfterTimeLimit = Number(values.seconds) * 1000;
  const details = await fc.check(property, { seed, numRuns, interruptAfterTimeLimit });
  const seconds = ((performance.now() - began) / 1000).toFixed(1);
  const reached = counts ? `, ${counts.decoded} reached a decoder, ${counts.shown} were shown` : '';
  console.log(`${name}: ${details.numRuns * batch} cases${reached}, ${seconds} s`);
  if (!details.failed) continue;
  failed += 1;
  console.error(String(details.errorInstance), fc.stringify(details.counterexample).slice(0, 5000));
}
process.exitCode = failed > 0 ? 1 : 0;
