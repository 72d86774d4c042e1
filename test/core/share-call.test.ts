import { expect, test } from 'vitest';
import { shareCall } from '../../core/share-call.ts';

/** Call that ends by hand. */
function manualCall() {
  const result = Promise.withResolvers<string>();
  const signals: AbortSignal[] = [];
  let aborts = 0;
  const call = shareCall(
    (signal) => {
      signals.push(signal);
      return result.promise;
    },
    () => (aborts += 1),
  );
  return { call, result, signal: signals[0]!, aborts: () => aborts };
}
const never = new AbortController().signal;

test('a shared call gives its result to all that wait', async () => {
  const { call, result } = manualCall();
  const waits = [call.join(never), call.join(never)];
  result.resolve('done');
  expect(await Promise.all(waits)).toEqual(['done', 'done']);
  expect(await call.join(never)).toBe('done');
});

test('a wait that aborts leaves the shared call to the others, and the last one aborts it', async () => {
  const { call, signal, aborts } = manualCall();
  const [one, other] = [new AbortController(), new AbortController()];
  const waits = [call.join(one.signal), call.join(other.signal)];
  one.abort(new Error('one left'));
  await expect(waits[0]).rejects.toThrow('one left');
  expect(signal.aborted).toBe(false);
  other.abort(new Error('other left'));
  await expect(waits[1]).rejects.toThrow('other left');
  expect(signal.aborted).toBe(true);
  expect(aborts()).toBe(1);
});

test('a failure of a shared call reaches all that wait', async () => {
  const { call, result } = manualCall();
  const waits = [call.join(never), call.join(never)];
  result.reject(new Error('broken'));
  for (const wait of waits) await expect(wait).rejects.toThrow('broken');
});
