import { z } from 'zod';
import { streamPositionSchema } from './capture.ts';

/** What passes between the workflow and its two functions: inputs and outputs of `workflow/watch.asl.json`. */

const timestampSchema = z.iso.datetime();

export const executionInputSchema = z.object({
  job_id: z.uuid(),
  generation: z.int().nonnegative(),
});
export type ExecutionInput = z.infer<typeof executionInputSchema>;

/** Returns the name of a job's execution, `<job_id>-<generation>`: a repeated start of the same name has no effect. */
export function executionName({ job_id, generation }: ExecutionInput): string {
  return `${job_id}-${generation}`;
}

/** What the last captures showed of the stream's progress, carried from tick to tick. */
const streamFreshnessSchema = z.object({
  position: streamPositionSchema,
  /** When this position was first seen. */
  since: timestampSchema,
  /** Since when pictures have been identical; null while they differ. */
  identical_since: timestampSchema.nullable(),
  /** When the last capture was taken in. */
  seen_at: timestampSchema,
});
export type StreamFreshness = z.infer<typeof streamFreshnessSchema>;

/** State of the stream's last captures, which the next capture is compared with. */
export const captureStateSchema = z.object({
  seen: streamFreshnessSchema.nullable(),
  motion: z.string().nullable(),
});
export type CaptureState = z.infer<typeof captureStateSchema>;

export const captureInputSchema = captureStateSchema.extend({
  source_id: z.uuid(),
  tick: z.int().positive(),
  /** The next tick only ends the job: nothing is captured for it. */
  closing: z.boolean(),
  /** The last capture failed: resolve the URL anew. */
  resolve_again: z.boolean(),
});
export type CaptureInput = z.infer<typeof captureInputSchema>;

export const captureOutputSchema = z.discriminatedUnion('kind', [
  z.object({
    kind: z.literal('captured'),
    frame_key: z.string(),
    clip_key: z.string().nullable(),
    captured_at: timestampSchema,
    seen: streamFreshnessSchema,
    /** The newest segment is the one of the last capture: there is no new picture. */
    repeated: z.boolean(),
    moved: z.boolean(),
    changed_share: z.number().min(0).max(1),
    black: z.boolean(),
    motion_if_looked: z.string(),
    motion_if_skipped: z.string(),
  }),
  /** The stream says that it has ended. */
  z.object({ kind: z.literal('ended'), message: z.string() }),
  z.object({ kind: z.literal('failed'), code: z.string(), message: z.string(), remediation: z.string() }),
  /** No picture, and the stream is not to blame: a full disk, no process left, an advertisement of the platform. */
  z.object({ kind: z.literal('unavailable'), message: z.string() }),
  z.object({ kind: z.literal('not_captured') }),
]);
export type CaptureOutput = z.infer<typeof captureOutputSchema>;

export const analyzeInputSchema = z.discriminatedUnion('operation', [
  executionInputSchema.extend({ operation: z.literal('begin') }),
  executionInputSchema.extend({
    operation: z.literal('analyze'),
    capture: captureInputSchema,
    captured: captureOutputSchema,
  }),
  executionInputSchema.extend({
    operation: z.literal('close'),
    failure: z.object({ Error: z.string(), Cause: z.string().optional() }),
  }),
]);
export type AnalyzeInput = z.infer<typeof analyzeInputSchema>;

/** The workflow's whole state after Begin and after each Analyze. */
export const workflowStateSchema = z.object({
  job_id: z.uuid(),
  generation: z.int().nonnegative(),
  done: z.boolean(),
  /** Whole seconds, rounded up: Wait truncates milliseconds. */
  wait_until: timestampSchema,
  capture: captureInputSchema,
});
export type WorkflowState = z.infer<typeof workflowStateSchema>;
