import type { DatabaseSync } from 'node:sqlite';
import { z } from 'zod';
import type { WorkflowState } from '../../../core/records/workflow.ts';
import { groupCommits } from '../sqlite/group-commit.ts';
import { withStorageErrors } from '../sqlite/transaction.ts';

type CaptureInput = WorkflowState['capture'];

/** Motion reference of each run, beside its record. What is lost costs one more check. */
export type MotionReferences = ReturnType<typeof createMotionReferences>;

/** Creates the store. Throws `TransientError` for disk faults. */
export function createMotionReferences(database: DatabaseSync, now: () => Date) {
  const find = database.prepare(
    'SELECT motion FROM motion_references WHERE run_id = ? AND generation = ? AND source_id = ?',
  );
  const put = database.prepare('INSERT OR REPLACE INTO motion_references VALUES (?, ?, ?, ?, ?)');
  const prune = database.prepare('DELETE FROM motion_references WHERE stored_at < ?');
  const retry = database.prepare("INSERT OR REPLACE INTO facts VALUES ('last_retry', ?)");
  const commitInGroup = groupCommits(database);
  return {
    /**
     * Returns the input of a capture with the stored reference if it has none: that of the same generation and
     * stream.
     */
    complete: ({ run_id: runId, generation, capture }: WorkflowState): CaptureInput => {
      if (capture.motion !== null) return capture;
      const row = withStorageErrors(() => find.get(runId, generation, capture.source_id));
      return row === undefined ? capture : { ...capture, motion: rowSchema.parse(row).motion };
    },
    /** Stores the reference for the next capture. Resolves when it is written, not when it is on disk. */
    save: async ({
      run_id: runId,
      generation,
      capture: { source_id: sourceId, motion },
    }: WorkflowState): Promise<void> => {
      await commitInGroup(() => void put.run(runId, generation, sourceId, now().getTime(), motion), {
        flush: false,
      });
    },
    /** Throws `TransientError` while the disk takes no write. */
    requireRoom: () => withStorageErrors(() => void retry.run(now().toISOString())),
    /** Removes references that were stored before `time`. Returns their number. */
    prune: (time: Date) => withStorageErrors(() => Number(prune.run(time.getTime()).changes)),
  };
}

const rowSchema = z.object({ motion: z.string().nullable() });
