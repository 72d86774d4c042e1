import { z } from 'zod';
import { watchSchema } from './watch.ts';
import { watchStateSchema, watchStatusSchema } from './watch-state.ts';

const timestampSchema = z.iso.datetime();
const countSchema = z.int().nonnegative();

/** Part of a stored watch that every commit writes: position in its log, status and state. */
export const watchProgressSchema = z.object({
  /** Number of commits. A commit states the version that it was decided from. */
  version: countSchema,
  /** Number of the execution; pause, resume and change start the next one. */
  generation: countSchema,
  status: watchStatusSchema,
  /** Sequence of the newest event; 0 before the first. */
  sequence: countSchema,
  /** Sequence of the newest event in the delivery queue. */
  published: countSchema,
  /** Time by which a watch that is not paused must commit; `reconcile` starts its next generation otherwise. */
  lease_until: timestampSchema,
  /** Time of the deletion; `null` for a watch that exists. */
  deleted_at: timestampSchema.nullable(),
  state: watchStateSchema,
});
export type WatchProgress = z.infer<typeof watchProgressSchema>;

/** Watch as stored: its configuration, which only callers write, and its progress. */
export const watchRunSchema = watchSchema.extend(watchProgressSchema.shape);
export type WatchRun = z.infer<typeof watchRunSchema>;
