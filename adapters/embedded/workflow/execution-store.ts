import type { DatabaseSync } from 'node:sqlite';
import { z } from 'zod';
import { type ExecutionInput, executionInputSchema } from '../../../core/records/workflow.ts';
import { jsonSchema } from './json.ts';
import type { Progress } from './progress.ts';
import { transaction, withoutFlush, withStorageErrors } from '../transaction.ts';

export type StoredExecution = { name: string; input: ExecutionInput; startedAt: Date; progress: Progress };

/** Position of an execution, with the JSON of its data, if the caller has it. */
export type Position = { progress: Progress; dataText: string | undefined };

/** Executions in SQLite. Every write is atomic. */
export type ExecutionStore = {
  /** Returns false if the name is taken by a running or ended execution. */
  insert(execution: StoredExecution): boolean;
  /**
   * Stores the position of a running execution. Returns false, without a write, if it is not running any more. `dataText` is the JSON of the data, if the
   * caller has it.
   */
  save(name: string, progress: Progress, dataText?: string): boolean;
  /** Stores positions by name, in one transaction. Those of executions that are not running any more have no effect. */
  saveAll(positions: ReadonlyMap<string, Position>): void;
  isRunning(name: string): boolean;
  find(name: string): StoredExecution | undefined;
  running(): StoredExecution[];
  /** Removes executions that ended before `stoppedBefore`, which frees their names. Returns how many. */
  prune(stoppedBefore: Date): number;
};

/** Creates the table of executions if it is missing. */
export function migrateExecutions(database: DatabaseSync): void {
  database.exec(`
    CREATE TABLE IF NOT EXISTS workflow_executions (
      name TEXT PRIMARY KEY,
      job_id TEXT NOT NULL,
      generation INTEGER NOT NULL,
      status TEXT NOT NULL CHECK (status IN ('running', 'succeeded', 'failed', 'aborted')),
      state TEXT NOT NULL,
      data TEXT NOT NULL,
      attempts TEXT NOT NULL,
      since TEXT,
      wake_at TEXT,
      error TEXT,
      cause TEXT,
      started_at TEXT NOT NULL,
      stopped_at TEXT
    ) STRICT;
    CREATE INDEX IF NOT EXISTS workflow_executions_running ON workflow_executions (name) WHERE status = 'running';
    CREATE INDEX IF NOT EXISTS workflow_executions_stopped ON workflow_executions (stopped_at);
  `);
}

/**
 * Creates the store; `migrateExecutions` must have run. Throws SQLite's errors mapped by `storageError`: `TransientError` for a
 * full disk.
 */
export function createExecutionStore(database: DatabaseSync): ExecutionStore {
  const insert = database.prepare(`
    INSERT INTO workflow_executions (
      name, job_id, generation, status, state, data, attempts, since, wake_at, error, cause, started_at, stopped_at
    ) VALUES (
      :name, :job_id, :generation, :status, :state, :data, :attempts, :since, :wake_at, :error, :cause, :started_at, :stopped_at
    ) ON CONFLICT (name) DO NOTHING`);
  const update = database.prepare(`
    UPDATE workflow_executions SET status = :status, state = :state, data = :data, attempts = :attempts, since = :since,
      wake_at = :wake_at, error = :error, cause = :cause, stopped_at = :stopped_at
    WHERE name = :name AND status = 'running'`);
  const find = database.prepare('SELECT * FROM workflow_executions WHERE name = ?');
  const isRunning = database.prepare(
    `SELECT 1 FROM workflow_executions WHERE name = ? AND status = 'running'`,
  );
  const running = database.prepare(`SELECT * FROM workflow_executions WHERE status = 'running'`);
  const prune = database.prepare(`DELETE FROM workflow_executions WHERE stopped_at < ?`);

  return {
    insert: ({ name, input, startedAt, progress }) =>
      withStorageErrors(
        () =>
          insert.run({ name, ...input, started_at: startedAt.toISOString(), ...toColumns(progress) })
            .changes === 1,
      ),
    // A power loss can take back the newest positions, with nothing that follows them: the steps after them run again, which each step allows. Nobody has
    // been told of a position.
    save: (name, progress, dataText) =>
      withStorageErrors(
        () =>
          withoutFlush(database, () => update.run({ name, ...toColumns(progress, dataText) })).changes === 1,
      ),
    saveAll: (positions) => {
      const run = () => {
        for (const [name, { progress, dataText }] of positions)
          update.run({ name, ...toColumns(progress, dataText) });
      };
      withoutFlush(database, () => transaction(database, run));
    },
    isRunning: (name) => withStorageErrors(() => isRunning.get(name) !== undefined),
    find: (name) => {
      const row = withStorageErrors(() => find.get(name));
      return row === undefined ? undefined : read(row);
    },
    running: () => withStorageErrors(() => running.all()).map(read),
    prune: (stoppedBefore) => withStorageErrors(() => Number(prune.run(stoppedBefore.toISOString()).changes)),
  };
}

function toColumns(progress: Progress, dataText = JSON.stringify(progress.data)) {
  const running = progress.status === 'running';
  return {
    status: progress.status,
    state: progress.state,
    data: dataText,
    attempts: JSON.stringify(running ? progress.attempts : []),
    since: running ? progress.since.toISOString() : null,
    wake_at: running ? (progress.wakeAt?.toISOString() ?? null) : null,
    error: running ? null : progress.error,
    cause: running ? null : progress.cause,
    stopped_at: running ? null : progress.stoppedAt.toISOString(),
  };
}

const dateSchema = z.iso.datetime().transform((text) => new Date(text));
const jsonTextSchema = z.string().transform((text): unknown => JSON.parse(text));
const identitySchema = executionInputSchema.extend({ name: z.string(), started_at: dateSchema });
const whereSchema = z.object({ state: z.string(), data: jsonTextSchema.pipe(jsonSchema) });

const progressSchema = z.union([
  whereSchema
    .extend({
      status: z.literal('running'),
      attempts: jsonTextSchema.pipe(z.array(z.int().nonnegative())),
      since: dateSchema,
      wake_at: dateSchema.nullable(),
    })
    .transform(({ wake_at: wakeAt, ...position }) => ({ ...position, wakeAt })),
  whereSchema
    .extend({
      status: z.enum(['succeeded', 'failed', 'aborted']),
      error: z.string().nullable(),
      cause: z.string().nullable(),
      stopped_at: dateSchema,
    })
    .transform(({ stopped_at: stoppedAt, ...ending }) => ({ ...ending, stoppedAt })),
]);

function read(row: unknown): StoredExecution {
  const { name, job_id, generation, started_at: startedAt } = identitySchema.parse(row);
  return { name, input: { job_id, generation }, startedAt, progress: progressSchema.parse(row) };
}
