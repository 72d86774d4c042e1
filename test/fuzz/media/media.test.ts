import fc from 'fast-check';
import { beforeAll, describe, test } from 'vitest';
import { count } from '../../attacks/counted.ts';
import { fuzzed, type Real } from './properties.ts';
import { realMedia } from './real-media.ts';

/** Every run has the same cases; `npm run fuzz:media` creates others. */
const seed = 20261120;
const cases = 3_000;

let real: Real;
beforeAll(async () => {
  real = await realMedia();
});

describe('hostile bytes', () => {
  test.for([
    'playlists',
    'segments',
    'JPEG heads',
    'JPEGs decoded',
    'session descriptions',
    'RTSP messages',
    'addresses',
  ])('%s end as a result or a named error', async (name, test) => {
    const { property, share } = fuzzed(real).find((each) => each.name === name)!;
    const numRuns = (cases * share) / 100;
    await fc.assert(property, { seed, numRuns });
    count(test, { fuzzCases: numRuns });
  });
});
