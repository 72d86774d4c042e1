import { expect, test } from 'vitest';
import { isQuestion, runSearch } from '../../console/search/use-search.ts';
import { runBacktest } from '../../console/watches/run-backtest.ts';

const { signal } = new AbortController();
const response = (fields: object) =>
  ({ next_cursor: null, limit_reached: false, results: [], ...fields }) as never;

/** Runs a search whose responses are given. Returns the requests. */
async function requestsOf(responses: object[], wanted = { query: 'a van', thorough: false, maxCalls: 10 }) {
  const sent: object[] = [];
  const left = [...responses];
  const search = async (body: object) => {
    sent.push(body);
    return response(left.shift() ?? {});
  };
  const seen: unknown[] = [];
  await runSearch(search, wanted, (each) => seen.push(each), signal);
  return { sent, seen };
}

test('a search takes steps of few model calls, with the cursor of each response, until its end', async () => {
  const { sent, seen } = await requestsOf([
    { next_cursor: 'a', limit_reached: true },
    { next_cursor: 'b', limit_reached: true },
    {},
  ]);
  const body = { query: 'a van', thorough: false, limit: 100 };
  expect(sent).toEqual([
    { ...body, max_calls: 4 },
    { ...body, max_calls: 8, cursor: 'a' },
    { ...body, max_calls: 10, cursor: 'b' },
  ]);
  expect(seen).toHaveLength(3);
});

test('a search ends when its model calls are used up', async () => {
  const { sent } = await requestsOf(
    Array.from({ length: 9 }, () => ({ next_cursor: 'a', limit_reached: true })),
  );
  expect(sent).toHaveLength(3);
});

test('a search that is stopped shows no later response', async () => {
  const abort = new AbortController();
  const seen: unknown[] = [];
  const search = async () => {
    abort.abort();
    return response({ next_cursor: 'a' });
  };
  await runSearch(
    search,
    { query: 'a van', thorough: false, maxCalls: 4 },
    (each) => seen.push(each),
    abort.signal,
  );
  expect(seen).toEqual([]);
});

test('a text is a question by its end or its first word', () => {
  const questions = [
    'a white van?',
    'How many cars came',
    'when did it come',
    'is there a parcel',
    'Was it open',
  ];
  expect(questions.filter((text) => !isQuestion(text))).toEqual([]);
  expect(['a white van', 'dim light', 'Howard at the gate', 'is'].filter(isQuestion)).toEqual([]);
});

test.each([
  ['its end', [{ next_cursor: 'a', stopped: 'time' }, {}], 2],
  ['the end of its budget', [{ next_cursor: 'a', stopped: 'calls' }, {}], 1],
  ['a failure of the model', [{ next_cursor: 'a', stopped: 'model' }, {}], 1],
])('a backtest continues by its cursor until %s', async (_, responses, requests) => {
  const sent: object[] = [];
  const send = async (body: object) => response({ stopped: null, ...responses[sent.push(body) - 1] });
  const seen: unknown[] = [];
  await runBacktest(send, 9, (each) => seen.push(each), signal);
  expect(sent).toEqual([{ max_calls: 9 }, { max_calls: 9, cursor: 'a' }].slice(0, requests));
  expect(seen).toHaveLength(requests);
});
