import type { DatabaseSync } from 'node:sqlite';
import { z } from 'zod';
import { captureStateSchema } from '../../../core/records/capture.ts';
import type { WorkflowState } from '../../../core/records/workflow.ts';
import { groupCommits } from '../group-commit.ts';
import { withStorageErrors } from '../transaction.ts';

type CaptureInput = WorkflowState['capture'];

/** State of the last captures of each run, beside its record. What is lost costs one more check. */
export type CaptureStates = {
  /** Returns the input of a capture with the stored state, where it has none: that of the same generation and stream. */
  complete(step: WorkflowState): CaptureInput;
  /** Stores the state for the next capture. Resolves when it is written, not when it is on disk. */
  save(step: WorkflowState): Promise<void>;
  /** Throws `TransientError` while the disk takes no write. */
  requireRoom(): void;
  /** Removes states that were stored before `time`. Returns their number. */
  prune(time: Date): number;
};

/** Creates the store. Throws `TransientError` for disk faults. */
export function createCaptureStates(database: DatabaseSync, now: () => Date): CaptureStates {
  const find = database.prepare(
    'SELECT record FROM capture_states WHERE run_id = ? AND generation = ? AND source_id = ?',
  );
  const put = database.prepare('INSERT OR REPLACE INTO capture_states VALUES (?, ?, ?, ?, ?)');
  const prune = database.prepare('DELETE FROM capture_states WHERE stored_at < ?');
  const retry = database.prepare("INSERT OR REPLACE INTO facts VALUES ('last_retry', ?)");
  const commitInGroup = groupCommits(database);
  return {
    complete: ({ job_id: runId, generation, capture }) => {
      if (capture.seen !== null && capture.motion !== null) return capture;
      const row = withStorageErrors(() => find.get(runId, generation, capture.source_id));
      if (row === undefined) return capture;
      const stored = rowSchema.parse(row).record;
      return { ...capture, seen: capture.seen ?? stored.seen, motion: capture.motion ?? stored.motion };
    },
    save: async ({ job_id: runId, generation, capture: { source_id: sourceId, seen, motion } }) => {
      const record = JSON.stringify({ seen, motion });
      await commitInGroup(() => void put.run(runId, generation, sourceId, now().getTime(), record), {
        flush: false,
      });
    },
    requireRoom: () => withStorageErrors(() => void retry.run(now().toISOString())),
    prune: (time) => withStorageErrors(() => Number(prune.run(time.getTime()).changes)),
  };
}

const rowSchema = z.object({
  record: z
    .string()
    .transform((text): unknown => JSON.parse(text))
    .pipe(captureStateSchema),
});
