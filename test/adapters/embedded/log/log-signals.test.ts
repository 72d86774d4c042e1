import { expect, test } from 'vitest';
import { createLogSignals } from '../../../../adapters/embedded/log/log-signals.ts';

/** Signals whose timers fire by hand. */
function manualSignals() {
  const timers: { fire: () => void; delayMs: number; isCancelled: boolean }[] = [];
  const signals = createLogSignals((fire, delayMs) => {
    const timer = { fire, delayMs, isCancelled: false };
    timers.push(timer);
    return () => void (timer.isCancelled = true);
  });
  return { signals, timers };
}

const never = new AbortController().signal;

async function isPending(promise: Promise<void>): Promise<boolean> {
  const pending = Symbol('pending');
  const turn = new Promise((resolve) => setImmediate(() => resolve(pending)));
  return (await Promise.race([promise, turn])) === pending;
}

test('a commit wakes every reader of its log and no reader of another log', async () => {
  const { signals, timers } = manualSignals();
  const first = signals.watch('a').changed(never);
  const second = signals.watch('a').changed(never);
  const other = signals.watch('b').changed(never);
  signals.notify('a');
  await Promise.all([first, second]);
  expect(await isPending(other)).toBe(true);
  expect(timers.map(({ isCancelled }) => isCancelled)).toEqual([true, true, false]);
});

test('a commit between two waits of a reader ends the second wait immediately', async () => {
  const { signals } = manualSignals();
  const log = signals.watch('a');
  signals.notify('a');
  await log.changed(never);
  expect(await isPending(log.changed(never))).toBe(true);
});

test('a wait without a commit ends after five seconds, so that heartbeats and key checks continue', async () => {
  const { signals, timers } = manualSignals();
  const wait = signals.watch('a').changed(never);
  expect(timers.map(({ delayMs }) => delayMs)).toEqual([5000]);
  timers[0]?.fire();
  await wait;
});

test('an abort ends a wait, and a wait that begins later ends immediately', async () => {
  const { signals } = manualSignals();
  const controller = new AbortController();
  const log = signals.watch('a');
  const wait = log.changed(controller.signal);
  controller.abort();
  await wait;
  await log.changed(controller.signal);
});

test('a reader that has ended is not woken', async () => {
  const { signals } = manualSignals();
  const log = signals.watch('a');
  const wait = log.changed(never);
  log.end();
  signals.notify('a');
  expect(await isPending(wait)).toBe(true);
});
