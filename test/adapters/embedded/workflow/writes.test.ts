import { expect, test } from 'vitest';
import type { Progress } from '../../../../adapters/embedded/workflow/progress.ts';
import { executionName } from '../../../../core/records/workflow.ts';
import { executionInput, scriptedJob } from './scripted-job.ts';
import { openStore, testEngine } from './test-engine.ts';

const input = executionInput();
const name = executionName(input);

test('a tick stores the result of its capture and its next wait, each with one JSON of the data', async () => {
  const store = openStore();
  const saved: { state: string; data: unknown; dataText: string | undefined }[] = [];
  const counted = {
    ...store,
    save: (execution: string, progress: Progress, dataText?: string) => {
      saved.push({ state: progress.state, data: progress.data, dataText });
      return store.save(execution, progress, dataText);
    },
  };
  const { engine, clock } = testEngine({ store: counted, resources: scriptedJob(3) });
  await engine.start(input);
  await clock.advance(10);
  saved.length = 0;
  await clock.advance(10);
  expect(saved.map(({ state }) => state)).toEqual(['Analyze', 'Pause']);
  for (const { data, dataText } of saved) expect(dataText).toBe(JSON.stringify(data));
  expect(store.find(name)?.progress.data).toEqual(saved.at(-1)?.data);
});

test('a process that ends during a task resumes at the wait before it, and repeats the task immediately', async () => {
  const store = openStore();
  const before = testEngine({ store, resources: scriptedJob(1, () => undefined) });
  await before.engine.start(input);
  await before.clock.advance(3);
  const waiting = store.find(name)?.progress;
  await before.clock.advance(7);
  const calls: string[] = [];
  const crashed = openStore();
  crashed.insert({ name, input, startedAt: before.clock.now(), progress: waiting! });
  const after = testEngine({
    store: crashed,
    clock: before.clock,
    resources: scriptedJob(1, (call) => calls.push(call)),
  });
  after.engine.resume();
  await after.clock.advance(0);
  expect(calls).toEqual(['capture 1', 'analyze 1']);
});
