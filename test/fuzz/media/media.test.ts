import fc from 'fast-check';
import { beforeAll, expect, test, type TestContext } from 'vitest';
import { count } from '../../attacks/counted.ts';
import { fuzzed, type Fuzzed } from './properties.ts';
import { realMedia } from './real-media.ts';

/** Every run has the same cases; `npm run fuzz -- media` creates others. */
const seed = 20261120;
const cases = 1_000;
/** Pictures that a decoder reads cost a hundred times as much. */
const decodedCases = 100;

let properties: Fuzzed[];
beforeAll(async () => {
  properties = fuzzed(await realMedia());
});

test.for([
  'playlists',
  'segments',
  'JPEG heads',
  'JPEGs decoded',
  'session descriptions',
  'RTSP messages',
  'addresses',
])('%s end as a result or a named error', async (name, test) => check(name, test));

test.for(['key frames', 'JPEGs'])(
  '%s in shared decoders give no picture to another stream and take none',
  { timeout: 300_000 },
  async (name, test) => check(`${name} in shared decoders`, test, decodedCases),
);

test('most crafted key frames reach a shared decoder, which shows many of them', () => {
  const { cases: all, decoded, shown } = properties.find(({ counts }) => counts)!.counts!;
  expect({ all, isMost: decoded > all / 2, areMany: shown > all / 3 }).toEqual({
    all: decodedCases,
    isMost: true,
    areMany: true,
  });
});

async function check(name: string, test: TestContext, all = cases) {
  const { property, share, batch = 1 } = properties.find((each) => each.name === name)!;
  const numRuns = Math.ceil((all * share) / 100 / batch);
  await fc.assert(property, { seed, numRuns });
  count(test, { fuzzCases: numRuns * batch });
}
