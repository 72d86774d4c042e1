import { expect, test } from 'vitest';
import { behindChecks } from '../../core/ports/callers.ts';
import { createFairQueue } from '../../adapters/fair-queue.ts';

test('items of one caller are taken in their order, and a caller that may not begin is passed over', () => {
  const queue = createFairQueue<string>({ elapsedMs: () => 0 });
  for (const item of ['a', 'b']) queue.add('ada', item);
  queue.add('bob', 'c');
  expect(queue.take((caller) => caller !== 'ada')?.item).toBe('c');
  expect([queue.take()?.item, queue.take()?.item, queue.take()]).toEqual(['a', 'b', undefined]);
});

test('a use under way counts from its begin, and its end counts once', () => {
  let nowMs = 0;
  const queue = createFairQueue<string>({ elapsedMs: () => nowMs });
  const end = queue.begin('greedy');
  nowMs = 1_000;
  for (const caller of ['greedy', 'modest']) queue.add(caller, caller);
  expect(queue.take()?.caller).toBe('modest');
  end();
  end();
  expect([queue.inUse(), queue.inUse('greedy')]).toEqual([0, 0]);
});

test('work behind checks waits for the checks of all callers, and is fair by caller itself', () => {
  let nowMs = 0;
  const queue = createFairQueue<string>({ elapsedMs: () => nowMs });
  const end = queue.begin(behindChecks('ada'));
  nowMs = 1_000;
  end();
  queue.add(behindChecks('ada'), 'search of ada');
  queue.add(behindChecks('bob'), 'search of bob');
  const endCheck = queue.begin('ada');
  nowMs = 60_000;
  endCheck();
  queue.add('ada', 'check');
  expect([1, 2, 3].map(() => queue.take()?.item)).toEqual(['check', 'search of bob', 'search of ada']);
});

test('a full queue gives up the newest item of the caller with the most', () => {
  const queue = createFairQueue<string>({ elapsedMs: () => 0, maxWaiting: 2 });
  expect(queue.add('greedy', 'a')).toBeUndefined();
  expect(queue.add('greedy', 'b')).toBeUndefined();
  expect(queue.add('modest', 'c')).toBe('b');
  expect(queue.takeAll()).toEqual(['a', 'c']);
  expect(queue.peek()).toBeUndefined();
});
