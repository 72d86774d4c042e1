import { DatabaseSync } from 'node:sqlite';
import { describe, expect, test } from 'vitest';
import { executionName } from '../../../../core/records/workflow.ts';
import {
  createExecutionStore,
  migrateExecutions,
} from '../../../../adapters/embedded/workflow/execution-store.ts';
import { settle } from './fake-clock.ts';
import { executionInput, scriptedJob, listStates } from './scripted-job.ts';
import { testEngine } from './test-engine.ts';
import { TransientError } from '../../../../core/errors.ts';

const input = executionInput();

/** Creates an engine on a database that can be filled: SQLite then rejects every growing write with SQLITE_FULL. */
function engineOnSmallDisk(before?: (call: string) => unknown) {
  const database = new DatabaseSync(':memory:');
  migrateExecutions(database);
  const pages = (count: number) => database.exec(`PRAGMA max_page_count = ${count}`);
  // Larger than the page of the row, so that the transition needs new pages.
  const job = scriptedJob(1, before);
  const resources = {
    ...job,
    CaptureFunctionArn: async (given: unknown, signal: AbortSignal) => {
      await job.CaptureFunctionArn(given, signal);
      return { kind: 'not_captured', frame: 'x'.repeat(50_000) };
    },
  };
  return {
    ...testEngine({ store: createExecutionStore(database), resources }),
    fill: () => pages(1),
    free: () => pages(1_000_000),
  };
}

describe('a full disk', () => {
  test('a full disk pauses an execution, is logged once, and loses nothing', async () => {
    const calls: string[] = [];
    const { engine, clock, states, errors, store, fill, free } = engineOnSmallDisk((call) =>
      calls.push(call),
    );
    await engine.start(input);
    await settle();
    fill();
    await clock.advance(100);
    expect(states().at(-1)).toBe('Capture');
    expect(store.find(executionName(input))?.progress).toMatchObject({ status: 'running', state: 'Pause' });
    expect(errors).toEqual([
      expect.stringMatching(/^\[JOB:00000000\] Workflow progress could not be stored/),
    ]);
    expect(clock.dueInSeconds[0]).toBeLessThanOrEqual(30);
    free();
    await clock.advance(30);
    expect(states()).toEqual(listStates(1));
    expect(calls).toEqual(['begin', 'capture 1', 'analyze 1']);
  });

  test('a full disk does not keep the engine from closing', async () => {
    const { engine, clock, fill } = engineOnSmallDisk();
    await engine.start(input);
    await settle();
    fill();
    await clock.advance(20);
    await engine.close();
    expect(clock.dueInSeconds).toEqual([]);
  });

  test('an execution is stopped as soon as the disk has space for that', async () => {
    const { engine, clock, fill, free } = engineOnSmallDisk();
    await engine.start(input);
    await settle();
    fill();
    await clock.advance(20);
    await engine.stop(input, 'cancelled');
    free();
    await clock.advance(30);
    expect(await engine.status(input)).toBe('aborted');
  });
});

describe('a store that cannot write at all', () => {
  test('a start that cannot be stored is rejected and succeeds when it is repeated', async () => {
    const database = new DatabaseSync(':memory:');
    migrateExecutions(database);
    const { engine, clock } = testEngine({ store: createExecutionStore(database) });
    database.exec('PRAGMA query_only = ON');
    await expect(engine.start(input)).rejects.toThrow(TransientError);
    database.exec('PRAGMA query_only = OFF');
    expect(await engine.start(input)).toBe('started');
    await clock.advance(60);
    expect(await engine.status(input)).toBe('succeeded');
  });

  test('a stop is retried with growing delays until it is stored', async () => {
    const database = new DatabaseSync(':memory:');
    migrateExecutions(database);
    const { engine, clock, errors } = testEngine({ store: createExecutionStore(database) });
    await engine.start(input);
    await settle();
    database.exec('PRAGMA query_only = ON');
    await engine.stop(input, 'cancelled');
    const pauses: number[] = [];
    for (let i = 0; i < 7; i++) {
      pauses.push(...clock.dueInSeconds);
      await clock.advance(clock.dueInSeconds[0]!);
    }
    expect(pauses).toEqual([1, 2, 4, 8, 16, 30, 30]);
    database.exec('PRAGMA query_only = OFF');
    await clock.advance(30);
    expect(await engine.status(input)).toBe('aborted');
    expect(errors).toHaveLength(1);
  });
});
