import { expect, test } from 'vitest';
import { retryWithBackoff } from '../../adapters/retry-with-backoff.ts';

const rule = {
  maxAttempts: 5,
  firstWaitMs: 100,
  maxWaitMs: 300,
  jitter: 0.5,
  mustRetry: (answer: string) => answer !== 'ok',
};

async function retry(answers: string[], random: number, changes: object = {}) {
  const waits: number[] = [];
  const sleep = async (milliseconds: number) => void waits.push(milliseconds);
  let asked = 0;
  const ask = async () => answers[asked++]!;
  const answer = await retryWithBackoff(ask, { ...rule, ...changes }, { sleep, random: () => random });
  return { answer, asked, waits };
}

test('waits double up to their maximum, and the last answer is returned', async () => {
  const answers = ['a', 'b', 'c', 'd', 'e', 'ok'];
  expect(await retry(answers, 0.5)).toEqual({ answer: 'e', asked: 5, waits: [100, 200, 300, 300] });
});

test('an answer that needs no retry ends the series', async () => {
  expect(await retry(['busy', 'ok', 'busy'], 0.5)).toEqual({ answer: 'ok', asked: 2, waits: [100] });
});

test('jitter changes a wait by at most its fraction', async () => {
  expect((await retry(['busy', 'ok'], 0)).waits).toEqual([50]);
  expect((await retry(['busy', 'ok'], 1)).waits).toEqual([150]);
});

test('a wait that the answer requests replaces the backoff', async () => {
  const requestedWaitMs = (answer: string) => (answer === 'busy' ? 7 : undefined);
  expect((await retry(['busy', 'full', 'ok'], 0.5, { requestedWaitMs })).waits).toEqual([7, 200]);
});
