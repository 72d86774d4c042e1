import { DatabaseSync } from 'node:sqlite';
import { describe, expect, it } from 'vitest';
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

/** An engine on a database that can be made full: SQLite then answers every write that needs room with SQLITE_FULL. */
function engineOnSmallDisk(before?: (call: string) => unknown) {
  const database = new DatabaseSync(':memory:');
  migrateExecutions(database);
  const pages = (count: number) => database.exec(`PRAGMA max_page_count = ${count}`);
  // More than fits into the page of the row: a move to it needs new pages.
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
  it('holds an execution up, is logged once, and loses nothing', async () => {
    const calls: string[] = [];
    const { engine, clock, states, errors, store, fill, free } = engineOnSmallDisk((call) =>
      calls.push(call),
    );
    await engine.start(input);
    await settle();
    fill();
    await clock.advance(100);
    expect(states().at(-1)).toBe('Capture');
    expect(store.find(executionName(input))?.progress).toMatchObject({ status: 'running', state: 'Capture' });
    expect(errors).toEqual([expect.stringMatching(/^\[JOB:00000000\] The workflow cannot store/)]);
    expect(clock.dueInSeconds[0]).toBeLessThanOrEqual(30);
    free();
    await clock.advance(30);
    expect(states()).toEqual(listStates(1));
    expect(calls).toEqual(['begin', 'capture 1', 'analyze 1']);
  });

  it('lets the engine close', async () => {
    const { engine, clock, fill } = engineOnSmallDisk();
    await engine.start(input);
    await settle();
    fill();
    await clock.advance(20);
    await engine.close();
    expect(clock.dueInSeconds).toEqual([]);
  });

  it('lets an execution be stopped, as soon as that can be stored', async () => {
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
  it('refuses a start, and takes it when it is tried again', async () => {
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

  it('keeps a stop until it can be written, with growing pauses', async () => {
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
