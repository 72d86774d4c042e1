import { expect, test } from 'vitest';
import { awaitClip } from '../../../../adapters/media/clips/await-clip.ts';
import type { ClipRequest, ClipResult } from '../../../../core/records/clip.ts';

const request: ClipRequest = {
  url: '',
  caller: 'ada',
  mode: 'frames',
  regions: null,
  from: new Date(0),
  openedAt: new Date(8),
  to: new Date(16),
  store: async () => undefined,
};
const { signal } = new AbortController();
const film: ClipResult = { kind: 'clip', bytes: 1, from: new Date(0), to: new Date(16), codec: 'avc1' };

/** Reads a clip whose attempts give these results, on a clock that only waits move. */
async function read(...results: ClipResult[]) {
  const [waits, isLast]: [number[], unknown[]] = [[], []];
  let nowMs = 0;
  const { clip } = awaitClip({
    clip: async (attempt) => {
      isLast.push(attempt.isLast ?? false);
      return results.shift() ?? film;
    },
    elapsedMs: () => nowMs,
    wait: async (milliseconds) => {
      waits.push(milliseconds);
      nowMs += milliseconds;
    },
    maxWaitMs: 20_000,
  });
  return { result: await clip!(request, signal), waits, isLast };
}

const pending = (afterSeconds: number, listedAfterSeconds?: number): ClipResult => ({
  kind: 'pending',
  afterSeconds,
  ...(listedAfterSeconds !== undefined && { listedAfterSeconds }),
});

test('a call waits for the end of a clip, and takes what there is at its own', async () => {
  expect(await read(pending(8), pending(3))).toEqual({
    result: film,
    waits: [8000, 3000],
    isLast: [false, false, false],
  });
  expect(await read(pending(8), pending(8), pending(8))).toEqual({
    result: film,
    waits: [8000, 8000, 4000],
    isLast: [false, false, false, true],
  });
});

test('a call ends if the stream will list the whole clip', async () => {
  expect(await read(pending(8, 11))).toMatchObject({ result: pending(11), waits: [] });
  expect(await read(pending(1, 1))).toMatchObject({ result: film, waits: [1000] });
});
