import type { DatabaseSync } from 'node:sqlite';
import { z } from 'zod';
import { executionInputSchema, type ExecutionInput } from '../../../core/records/workflow.ts';
import { withStorageErrors } from '../sqlite/transaction.ts';

/**
 * Returns a function that lists the runs which need further ticks: active jobs, and watches that are neither paused nor
 * deleted.
 */
export function listUnfinishedRuns(database: DatabaseSync): () => ExecutionInput[] {
  const unfinished = database.prepare(
    "SELECT run_id, run ->> 'generation' AS generation FROM runs WHERE lease_until IS NOT NULL",
  );
  return () => withStorageErrors(() => rowsSchema.parse(unfinished.all()));
}

const rowsSchema = z.array(executionInputSchema);
