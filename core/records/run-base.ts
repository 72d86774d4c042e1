import { z } from 'zod';
import { streamFreshnessSchema } from './capture.ts';
import { initialSight, sightSchema } from './sight.ts';

const timestampSchema = z.iso.datetime();
const countSchema = z.int().nonnegative();

/** Decision of the last committed tick of a run. A repeated Analyze returns it. */
export const nextTickSchema = z.object({
  done: z.boolean(),
  wait_until: timestampSchema,
  /** True if the capture is the motion reference: the model judged all of it, or it is a sample. */
  judged: z.boolean(),
  /** True if the model failed for each frame of the capture: the next one scans its time again. */
  rescans: z.literal(true).optional(),
  /** True if the next tick captures nothing: it ends a job or a window, or is the boundary of a span or of a day. */
  closing: z.boolean(),
  /** True if the next check asks only about the pending conditions of a watch. */
  confirming: z.boolean(),
  resolve_again: z.boolean(),
  /** Factor of the interval in an overload; absent without one. */
  stretch: z.number().min(1).optional(),
});
export type NextTick = z.infer<typeof nextTickSchema>;

/** Fields of every run that its creation and callers write. `stream_url` is masked: the source has the full URL. */
export const runMetaSchema = z.object({
  run_id: z.uuid(),
  caller: z.string(),
  created_at: timestampSchema,
  stream_url: z.string(),
  source_id: z.uuid(),
  /** Offset of the checks on the grid of the interval, in milliseconds; `null` for a grid that starts with the run. */
  stream_phase: countSchema.nullable(),
});

/** Fields of every run that its ticks write. */
export const runProgressSchema = z.object({
  /** Number of commits. A commit states the version that it was decided from. */
  version: countSchema,
  /** Number of the execution; a hand-over, and a change of a watch by its caller, start the next one. */
  generation: countSchema,
  /** Number of the newest Begin of this generation that took one (bursts on AWS); 0 without bursts. */
  burst: countSchema,
  /** Ticks of the current generation, which ends after `ticksPerExecution`. */
  execution_ticks: countSchema,
  /** Sequence of the newest event; 0 before the first. */
  sequence: countSchema,
  /** Sequence of the newest event in the delivery queue. */
  published: countSchema,
  last_tick: countSchema,
  next: nextTickSchema.nullable(),
  sight: sightSchema,
  /** Progress of the stream in the last captures, so that no picture is judged twice. Only another stream drops it. */
  seen: streamFreshnessSchema.nullable(),
  /**
   * Motion reference for the first capture of a generation, stored by the tick that ends the generation before; `null`
   * at any other time. About 10 kB, so no other tick stores it. On AWS the key of an object with it.
   */
  handed_over: z.string().nullable(),
  /** Lease expiry: `reconcile` repairs a run that has not committed by then. */
  lease_until: timestampSchema,
});
export type RunProgress = z.infer<typeof runProgressSchema>;

/** Progress of a run before its first execution, without its lease. */
export const initialProgress: Omit<RunProgress, 'lease_until'> = {
  version: 0,
  generation: 0,
  burst: 0,
  execution_ticks: 0,
  sequence: 0,
  published: 0,
  last_tick: 0,
  next: null,
  sight: initialSight,
  seen: null,
  handed_over: null,
};
