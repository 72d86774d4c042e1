import { z } from 'zod';
import { captureStateSchema, streamFreshnessSchema } from './capture.ts';

const timestampSchema = z.iso.datetime();

/** Input of an execution of `lib/workflow/run.asl.json`. */
export const executionInputSchema = z.object({
  /** Id of the run, a job or a watch. Executions that run have it under this name. */
  run_id: z.uuid(),
  generation: z.int().nonnegative(),
});
export type ExecutionInput = z.infer<typeof executionInputSchema>;

/** Returns the name of a job's execution, `<run_id>-<generation>`: a repeated start of the same name has no effect. */
export function executionName({ run_id, generation }: ExecutionInput): string {
  return `${run_id}-${generation}`;
}

/** Input of the workflow's `capture` task. */
export const captureInputSchema = captureStateSchema.extend({
  /** True if a capture probes a lost camera first, on hosts that try it often. */
  probes_lost: z.literal(true).optional(),
  source_id: z.uuid(),
  tick: z.int().positive(),
  /** True if the tick only ends the job or its windows, without a capture. */
  closing: z.boolean(),
  /** True if a watch confirms what its last check saw: then a capture also chooses a frame that shows the same. */
  confirms: z.literal(true).optional(),
  /** True after a failed capture: resolves the URL again instead of using the cache. */
  resolve_again: z.boolean(),
  /** True in a burst on AWS, whose state nobody keeps: capture returns pictures in its output. */
  in_burst: z.literal(true).optional(),
  /**
   * Present if motion may wake the run before its planned time, on hosts that follow streams. `quiet`: the last capture
   * saw no motion.
   */
  wakes: z.object({ quiet: z.boolean() }).optional(),
});
export type CaptureInput = z.infer<typeof captureInputSchema>;

/** Earlier moment of a capture that looks back, with its picture. */
const momentSchema = z.object({
  frame_key: z.string(),
  captured_at: timestampSchema,
  changed_share: z.number().min(0).max(1),
  /** Times of the first and last frame of the scan about it that nothing changed between. */
  still: z.tuple([timestampSchema, timestampSchema]).optional(),
});
export type Moment = z.infer<typeof momentSchema>;

/** Facts of the scan of a capture that looks back. */
const scanFactsSchema = z.object({
  /** Frames since the last capture, without the newest. */
  frames: z.int().nonnegative(),
  /** Time before the newest frame that was scanned without a hole. */
  covered_seconds: z.number().nonnegative(),
  left_out_seconds: z.number().nonnegative(),
  /** Longest time between two neighbouring frames; 0 if unknown. */
  distance_seconds: z.number().nonnegative(),
  /** True if something moved of which no moment is judged. */
  leaves_motion: z.literal(true).optional(),
  /** Times of the frames that do not differ from the newest, oldest first. */
  quiet: z.array(timestampSchema).max(30),
  /** Times of other frames that do not differ from the picture that motion is compared with. Absent without any. */
  unchanged: z.array(timestampSchema).max(30).optional(),
});

const captureResultSchema = z.discriminatedUnion('kind', [
  z.object({
    kind: z.literal('captured'),
    frame_key: z.string(),
    clip_key: z.string().nullable(),
    captured_at: timestampSchema,
    seen: streamFreshnessSchema,
    /** True if the last capture already used the newest segment. */
    repeated: z.boolean(),
    moved: z.boolean(),
    changed_share: z.number().min(0).max(1),
    black: z.boolean(),
    /** View of the frame, by `describeView`; absent without regions. */
    view: z.string().optional(),
    /** Earlier moments since the last capture, oldest first. Absent without any. */
    moments: z.array(momentSchema).max(3).optional(),
    /** Absent if the capture did not look back. */
    scan: scanFactsSchema.optional(),
    motion_if_judged: z.string(),
    motion_if_skipped: z.string(),
  }),
  /** The stream signaled its end. */
  z.object({ kind: z.literal('ended'), message: z.string() }),
  z.object({
    kind: z.literal('failed'),
    code: z.string(),
    message: z.string(),
    remediation: z.string(),
    /** True if the server refused user name or password. */
    access_refused: z.boolean(),
    /** True if pictures arrived, and none was whole. */
    damaged: z.boolean().optional(),
  }),
  /** No frame, for a reason other than the stream: full disk, no free process, advertisement of the platform. */
  z.object({ kind: z.literal('unavailable'), message: z.string() }),
  z.object({ kind: z.literal('not_captured') }),
]);
export type CaptureResult = z.infer<typeof captureResultSchema>;

/**
 * Result of the workflow's `capture` task. `began_at`: when the capture began, which is the time of what it shows.
 * `woken_at`: when motion woke the run before its planned time.
 */
export const captureOutputSchema = captureResultSchema.and(
  z.object({ began_at: timestampSchema, woken_at: timestampSchema.optional() }),
);
export type CaptureOutput = z.infer<typeof captureOutputSchema>;

/** Burst that a tick belongs to. Absent if one execution runs all ticks of a generation. */
const burstFields = {
  /**
   * Number that Begin gave to this run of ticks. A tick with a lower number than the job's is of an abandoned burst.
   */
  burst: z.int().positive().optional(),
  burst_started_at: timestampSchema.optional(),
  /** Time after its start from which a burst begins no tick, in seconds. */
  burst_seconds: z.int().positive().optional(),
  /** Time after its start at which the platform ends a burst, in seconds. Default: its timeout. */
  burst_hold_seconds: z.number().positive().optional(),
};

/** Start and end of a burst whose call failed. */
export const cutBurstSchema = z.object({ began_at: timestampSchema, ended_at: timestampSchema });
export type CutBurst = z.infer<typeof cutBurstSchema>;

/** Input of the workflow's `analyze` task: Begin, one tick, or the failure of the execution. */
export const analyzeInputSchema = z.discriminatedUnion('operation', [
  executionInputSchema.extend({
    operation: z.literal('begin'),
    /** True if bursts run the ticks: Begin then takes the next burst number. */
    bursts: z.boolean().optional(),
    /** Reason why Begin is repeated, with the times of a burst whose call failed. */
    failure: z.object({ Error: z.string(), ...cutBurstSchema.partial().shape }).optional(),
  }),
  executionInputSchema.extend({
    operation: z.literal('analyze'),
    capture: captureInputSchema,
    captured: captureOutputSchema,
    /** Planned time of the tick. */
    planned_at: timestampSchema.optional(),
    ...burstFields,
  }),
  executionInputSchema.extend({
    operation: z.literal('close'),
    failure: z.object({ Error: z.string(), Cause: z.string().optional() }),
  }),
]);
export type AnalyzeInput = z.infer<typeof analyzeInputSchema>;
export type BeginInput = Extract<AnalyzeInput, { operation: 'begin' }>;
export type TickInput = Extract<AnalyzeInput, { operation: 'analyze' }>;

/** State of the workflow after Begin and after each Analyze. */
export const workflowStateSchema = z.object({
  run_id: z.uuid(),
  generation: z.int().nonnegative(),
  done: z.boolean(),
  /** On AWS in whole seconds, rounded up, because Wait truncates milliseconds. */
  wait_until: timestampSchema,
  capture: captureInputSchema,
  burst: burstFields.burst,
  /** Only in a burst: true if no further burst follows. `done` also ends a burst that another one continues. */
  over: z.boolean().optional(),
  /** Only in a burst: true if the wait for the next tick is cheaper between two bursts than in one. */
  rests: z.boolean().optional(),
  /** Only after Begin and at the end of a burst: planned start of the next one. */
  next_burst_at: timestampSchema.optional(),
});
export type WorkflowState = z.infer<typeof workflowStateSchema>;
