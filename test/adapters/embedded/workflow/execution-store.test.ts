import { DatabaseSync } from 'node:sqlite';
import { describe, expect, test } from 'vitest';
import { executionName } from '../../../../core/records/workflow.ts';
import {
  createExecutionStore,
  migrateExecutions,
  type StoredExecution,
} from '../../../../adapters/embedded/workflow/execution-store.ts';
import type { ExecutionEnding, Position } from '../../../../adapters/embedded/workflow/progress.ts';
import { startOfTest } from './fake-clock.ts';
import { executionInput } from './scripted-job.ts';

const later = (seconds: number) => new Date(startOfTest.getTime() + seconds * 1000);

const position: Position = {
  status: 'running',
  state: 'Pause',
  data: { a: [1, null, 'ü'] },
  attempts: [0, 2],
  since: startOfTest,
  wakeAt: later(10),
};

const ending = (seconds: number): ExecutionEnding => ({
  status: 'failed',
  state: 'Failed',
  data: {},
  error: 'E',
  cause: 'why',
  stoppedAt: later(seconds),
});

function execution(number: number): StoredExecution {
  const input = executionInput(number);
  return { name: executionName(input), input, startedAt: startOfTest, progress: position };
}

function openStore(database = new DatabaseSync(':memory:')) {
  migrateExecutions(database);
  migrateExecutions(database);
  return createExecutionStore(database);
}

describe('the execution store', () => {
  test('the name of an execution is made of job and generation', () => {
    expect(executionName(executionInput(1, 3))).toBe('00000000-0000-4000-8000-000000000001-3');
  });

  test('the store returns running and ended executions unchanged', () => {
    const store = openStore();
    store.insert(execution(1));
    expect(store.find(execution(1).name)).toEqual(execution(1));
    store.save(execution(1).name, ending(5));
    expect(store.find(execution(1).name)).toEqual({ ...execution(1), progress: ending(5) });
  });

  test('the store accepts a name once and keeps it after the end', () => {
    const store = openStore();
    expect(store.insert(execution(1))).toBe(true);
    expect(store.insert(execution(1))).toBe(false);
    store.save(execution(1).name, ending(5));
    expect(store.insert(execution(1))).toBe(false);
    expect(store.find(execution(1).name)?.progress).toEqual(ending(5));
  });

  test('the store does not overwrite an ended execution', () => {
    const store = openStore();
    store.insert(execution(1));
    expect(store.save(execution(1).name, ending(5))).toBe(true);
    expect(store.save(execution(1).name, position)).toBe(false);
    expect(store.find(execution(1).name)?.progress).toEqual(ending(5));
  });

  test('the commits of others are flushed after a position was saved, also when the save failed', () => {
    const database = new DatabaseSync(':memory:');
    database.exec('PRAGMA synchronous = FULL');
    const store = openStore(database);
    const flushes = () => database.prepare('PRAGMA synchronous').get()?.['synchronous'];
    store.insert(execution(1));
    store.save(execution(1).name, position);
    expect(flushes()).toBe(2);
    database.exec('DROP TABLE workflow_executions');
    expect(() => store.save(execution(1).name, position)).toThrow();
    expect(flushes()).toBe(2);
  });

  test('the store returns nothing for an unknown execution', () => {
    const store = openStore();
    expect(store.find('x')).toBeUndefined();
    expect(store.save('x', position)).toBe(false);
  });

  test('the store lists running executions only', () => {
    const store = openStore();
    for (const number of [1, 2, 3]) store.insert(execution(number));
    store.save(execution(2).name, ending(5));
    expect(store.running()).toEqual([execution(1), execution(3)]);
  });

  test('a prune removes executions that ended before the given time and no running ones', () => {
    const store = openStore();
    for (const number of [1, 2, 3]) store.insert(execution(number));
    store.save(execution(1).name, ending(5));
    store.save(execution(2).name, ending(20));
    expect(store.prune(later(20))).toBe(1);
    expect(store.find(execution(1).name)).toBeUndefined();
    expect(store.find(execution(2).name)).toBeDefined();
    expect(store.find(execution(3).name)).toBeDefined();
  });
});
