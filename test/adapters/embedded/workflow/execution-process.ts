import { appendFileSync } from 'node:fs';
import { DatabaseSync } from 'node:sqlite';
import { setTimeout as sleep } from 'node:timers/promises';
import { z } from 'zod';
import { systemClock } from '../../../../adapters/embedded/workflow/clock.ts';
import { createWorkflowEngine } from '../../../../adapters/embedded/workflow/engine.ts';
import {
  createExecutionStore,
  migrateExecutions,
} from '../../../../adapters/embedded/workflow/execution-store.ts';
import type { Log } from '../../../../core/ports/log.ts';
import { executionInput, scriptedJob, watch } from './scripted-job.ts';

/**
 * Process that runs executions until all have ended: `execution-process.ts DATABASE CALLS EXECUTIONS TICKS [KILL_AFTER_CALLS]`.
 * It kills itself a few milliseconds after that number of calls: a kill from outside would depend on the load of the machine.
 */

const [file = '', calls = '', executions, ticks, killAfterCalls] = process.argv.slice(2);
let callsMade = 0;
const database = new DatabaseSync(file);
database.exec('PRAGMA journal_mode = WAL');
migrateExecutions(database);

const silent: Log = { debug() {}, info() {}, warning() {}, error() {} };
const engine = createWorkflowEngine({
  definition: watch,
  resources: scriptedJob(Number(ticks), writeDown, new Date(0)),
  store: createExecutionStore(database),
  clock: systemClock,
  random: Math.random,
  log: silent,
});

engine.resume();
const inputs = Array.from({ length: Number(executions) }, (_, i) => executionInput(i));
for (const input of inputs) await engine.start(input);
while (await someRun()) await sleep(20);
await engine.close();

async function someRun(): Promise<boolean> {
  const statuses = await Promise.all(inputs.map((input) => engine.status(input)));
  return statuses.includes('running');
}

/** Writes each call to the file before it returns. */
async function writeDown(call: string, _: AbortSignal, input: unknown): Promise<void> {
  callsMade += 1;
  if (callsMade === Number(killAfterCalls)) {
    setTimeout(() => process.kill(process.pid, 'SIGKILL'), Math.random() * 10);
  }
  appendFileSync(calls, `${findJob(input)} ${call}\n`);
  await sleep(Math.random() * 5);
}

function findJob(input: unknown): string | undefined {
  const { job_id, source_id } = z.object({ job_id: z.uuid(), source_id: z.uuid() }).partial().parse(input);
  return job_id ?? source_id;
}
