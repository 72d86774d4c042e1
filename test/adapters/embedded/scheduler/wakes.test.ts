import { expect, test } from 'vitest';
import type { RunTasks } from '../../../../adapters/embedded/scheduler/tick-loop.ts';
import { addSeconds } from '../../../../core/time.ts';
import { start as startOfTest } from '../../../contract/records.ts';
import { executionInput, scriptedRun } from '../../../support/scripted-run.ts';
import { settle } from './fake-clock.ts';
import { testScheduler } from './test-scheduler.ts';

const input = executionInput();

/** A run whose second tick may be woken: `move` reports motion. */
function openFollowed({ fails = false } = {}) {
  const motion = Promise.withResolvers<boolean>();
  const outputs: (string | undefined)[] = [];
  const aborted: boolean[] = [];
  const scripted = scriptedRun(3, (call, given: any) => {
    if (call.startsWith('analyze')) outputs.push(given.captured.woken_at);
  });
  const tasks: RunTasks = {
    ...scripted,
    analyze: async (given, signal) => {
      const step = await scripted.analyze(given, signal);
      return given.operation === 'analyze' && 'capture' in step && !step.done && step.capture.tick === 2
        ? { ...step, capture: { ...step.capture, wakes: { quiet: true } } }
        : step;
    },
    awaitMotion: async (_, signal) => {
      signal.addEventListener('abort', () => aborted.push(true));
      if (fails) throw new Error('The stream is gone');
      return motion.promise;
    },
  };
  return { ...testScheduler({ tasks }), outputs, aborted, move: () => motion.resolve(true) };
}
const at = (seconds: number) => addSeconds(startOfTest, seconds).toISOString();

test('motion wakes the run, and the tick says so', async () => {
  const { scheduler, clock, outputs, aborted, move } = openFollowed();
  await scheduler.start(input);
  await clock.advance(14);
  expect(outputs).toEqual([undefined]);
  move();
  await clock.advance(1);
  expect(outputs).toEqual([undefined, at(14)]);
  expect(aborted).toEqual([true]);
  await clock.advance(15);
  expect(outputs).toEqual([undefined, at(14), undefined]);
  expect(clock.dueInSeconds).toEqual([]);
});

test('two ticks are at least two seconds apart', async () => {
  const { scheduler, clock, outputs, move } = openFollowed();
  await scheduler.start(input);
  await clock.advance(10);
  move();
  await clock.advance(1.9);
  expect(outputs).toHaveLength(1);
  await clock.advance(0.2);
  expect(outputs).toEqual([undefined, at(12)]);
});

test.each([false, true])('a run without motion ticks at its time, if the stream fails: %s', async (fails) => {
  const { scheduler, clock, outputs } = openFollowed({ fails });
  await scheduler.start(input);
  await clock.advance(19);
  expect(outputs).toEqual([undefined]);
  await clock.advance(1);
  expect(outputs).toEqual([undefined, undefined]);
});

test('a run that ends or changes follows its stream no more', async () => {
  const { scheduler, clock, aborted, outputs, move } = openFollowed();
  await scheduler.start(input);
  await clock.advance(12);
  scheduler.wake(input.run_id);
  await settle();
  expect(aborted).toEqual([true]);
  move();
  await clock.advance(3);
  expect(outputs).toEqual([undefined]);
  await scheduler.close();
  expect(clock.dueInSeconds).toEqual([]);
});
