import { z } from 'zod';
import { runProgressSchema } from './run-base.ts';
import { watchSchema } from './watch.ts';
import { watchStateSchema, watchStatusSchema } from './watch-state.ts';

const timestampSchema = z.iso.datetime();

/** Part of a stored watch that every commit writes. */
export const watchProgressSchema = runProgressSchema.extend({
  status: watchStatusSchema,
  /** Time of the deletion; `null` for a watch that exists. */
  deleted_at: timestampSchema.nullable(),
  state: watchStateSchema,
});
export type WatchProgress = z.infer<typeof watchProgressSchema>;

/** Watch as stored: its configuration, which only callers write, and its progress. */
export const watchRunSchema = watchSchema.extend(watchProgressSchema.shape);
export type WatchRun = z.infer<typeof watchRunSchema>;
