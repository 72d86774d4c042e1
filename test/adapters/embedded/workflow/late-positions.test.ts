import { DatabaseSync } from 'node:sqlite';
import { expect, test } from 'vitest';
import {
  createExecutionStore,
  migrateExecutions,
} from '../../../../adapters/embedded/workflow/execution-store.ts';
import { writePositionsLate } from '../../../../adapters/embedded/workflow/late-positions.ts';
import type { Position } from '../../../../adapters/embedded/workflow/progress.ts';
import { executionName } from '../../../../core/records/workflow.ts';
import { startOfTest } from './fake-clock.ts';
import { executionInput } from './scripted-job.ts';

const inputs = [1, 2].map((number) => executionInput(number));
const [first = '', second = ''] = inputs.map(executionName);

const at = (state: string): Position => ({
  status: 'running',
  state,
  data: {},
  attempts: [],
  since: startOfTest,
  wakeAt: null,
});

const end = {
  status: 'succeeded' as const,
  state: 'Finished',
  data: {},
  error: null,
  cause: null,
  stoppedAt: startOfTest,
};

/** Opens a store with two executions at `Begin`, and a reader of what is written. */
function open() {
  const database = new DatabaseSync(':memory:');
  migrateExecutions(database);
  const store = createExecutionStore(database);
  const timers: (() => void)[] = [];
  const errors: string[] = [];
  const late = writePositionsLate({
    store,
    setTimer: (fire) => {
      timers.push(fire);
      return () => void timers.splice(timers.indexOf(fire), 1);
    },
    log: { debug() {}, info() {}, warning() {}, error: (message) => void errors.push(message) },
  });
  for (const input of inputs)
    late.insert({ name: executionName(input), input, startedAt: startOfTest, progress: at('Begin') });
  const written = () => [first, second].map((name) => store.find(name)?.progress.state);
  const fire = () => timers.splice(0).forEach((timer) => timer());
  return { database, late, written, fire, timers, errors };
}

test('positions of one quarter of a second are written together, the newest of each execution only', () => {
  const { late, written, fire, timers } = open();
  expect(late.save(first, at('Analyze'))).toBe(true);
  expect(late.save(second, at('Analyze'))).toBe(true);
  expect(late.save(first, at('Pause'))).toBe(true);
  expect(written()).toEqual(['Begin', 'Begin']);
  expect(timers).toHaveLength(1);
  fire();
  expect(written()).toEqual(['Pause', 'Analyze']);
  expect(timers).toHaveLength(0);
});

test('an end is written immediately, and a position that waits does not replace it', () => {
  const { late, written, fire } = open();
  late.save(first, at('Analyze'));
  expect(late.save(first, end)).toBe(true);
  expect(written()).toEqual(['Finished', 'Begin']);
  fire();
  expect(written()).toEqual(['Finished', 'Begin']);
});

test('an execution that is not running, or was removed, has no position to save', () => {
  const { database, late, written, fire } = open();
  late.save(first, end);
  expect(late.save(first, at('Pause'))).toBe(false);
  late.save(second, at('Analyze'));
  database.exec('DELETE FROM workflow_executions');
  expect(late.save(second, at('Pause'))).toBe(false);
  fire();
  expect(written()).toEqual([undefined, undefined]);
});

test('a reader of executions sees the positions that wait', () => {
  const { late } = open();
  late.save(first, at('Analyze'));
  expect(late.find(first)?.progress.state).toBe('Analyze');
  late.save(second, at('Pause'));
  expect(late.running().map(({ progress }) => progress.state)).toEqual(['Analyze', 'Pause']);
});

test('positions that could not be written wait for another attempt, which is logged once', () => {
  const { database, late, written, fire, errors } = open();
  late.save(first, at('Analyze'));
  database.exec('PRAGMA query_only = ON');
  fire();
  late.save(second, at('Pause'));
  fire();
  database.exec('PRAGMA query_only = OFF');
  expect(written()).toEqual(['Begin', 'Begin']);
  expect(errors).toEqual(['Positions of the workflow not stored, retrying']);
  fire();
  expect(written()).toEqual(['Analyze', 'Pause']);
});

test('the end of the process writes the positions that wait, and leaves no timer', () => {
  const { late, written, timers } = open();
  late.save(first, at('Analyze'));
  late.close();
  expect(written()).toEqual(['Analyze', 'Begin']);
  expect(timers).toHaveLength(0);
});

test('the end of the process does not fail with a full disk', () => {
  const { database, late, timers } = open();
  late.save(first, at('Analyze'));
  database.exec('PRAGMA query_only = ON');
  expect(() => late.close()).not.toThrow();
  expect(timers).toHaveLength(0);
});
