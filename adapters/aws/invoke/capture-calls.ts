import { z } from 'zod';
import { inputModeSchema, streamPositionSchema } from '../../../core/records/capture.ts';
import { regionSchema } from '../../../core/records/capture.ts';
import type { Capture, StreamProbe } from '../../../core/records/capture.ts';
import { platforms } from '../../../core/records/platform.ts';
import type { ClipResult, MakeClip } from '../../../core/records/clip.ts';
import type { CoreDeps } from '../../../core/dependencies.ts';
import { StreamFetchError } from '../../../core/errors.ts';
import type { ResizeJpeg } from '../../vision/picture-width.ts';
import { maxInvokePayloadBytes, base64, bytesSchema } from './invoke.ts';

/** Absent in a call of an earlier version, during a deployment. */
const callerField = z.string().default('');

const timeField = z.iso.datetime().transform((text) => new Date(text));

/** Direct calls of `capture`, besides ticks. `seconds` is the timeout of the caller. */
export const captureCallSchema = z.discriminatedUnion('operation', [
  z.object({ operation: z.literal('probe'), seconds: z.number(), url: z.string(), caller: callerField }),
  z.object({
    operation: z.literal('capture'),
    seconds: z.number(),
    url: z.string(),
    caller: callerField,
    mode: inputModeSchema,
    clip_seconds: z.number(),
    /** Absent: the whole picture. */
    regions: z.array(regionSchema).nullish(),
  }),
  z.object({
    operation: z.literal('sheet'),
    seconds: z.number(),
    samples: z.array(z.object({ frame: bytesSchema, captured_at: timeField })),
    columns: z.int().positive(),
    tile_width_pixels: z.int().positive(),
  }),
  z.object({
    operation: z.literal('resize'),
    seconds: z.number(),
    jpeg: bytesSchema,
    width_pixels: z.int().positive(),
  }),
  z.object({
    operation: z.literal('clip'),
    seconds: z.number(),
    url: z.string(),
    caller: callerField,
    mode: inputModeSchema,
    regions: z.array(regionSchema).nullable(),
    from: timeField,
    to: timeField,
    opened_at: timeField,
    behind_seconds: z.number().optional(),
    /** Object of the clip: a result of 40 MB is too large for an invocation. */
    key: z.string(),
  }),
]);
export type CaptureCall = z.output<typeof captureCallSchema>;
export type CaptureCallInput = z.input<typeof captureCallSchema>;

export const probeAnswerSchema = z.object({
  platform: z.enum(platforms),
  playbackUrl: z.string(),
  framesOnly: z.boolean().optional(),
}) satisfies z.ZodType<StreamProbe>;

export const captureAnswerSchema = z.object({
  frame: bytesSchema,
  clip: bytesSchema.nullable(),
  thumbnail: bytesSchema,
  captured_at: timeField,
  position: streamPositionSchema,
  interval_assumed: z.boolean().optional(),
  key_frame_seconds: z.number().optional(),
});

export const sheetAnswerSchema = z.object({ sheet: bytesSchema });

export const resizeAnswerSchema = z.object({ jpeg: bytesSchema });

/** Result of `clip`. */
export const clipAnswerSchema = z.discriminatedUnion('kind', [
  z.object({ kind: z.literal('pending'), afterSeconds: z.number() }),
  z.object({ kind: z.literal('none'), reason: z.string() }),
  z.object({
    kind: z.literal('clip'),
    bytes: z.int().positive(),
    from: timeField,
    to: timeField,
    codec: z.string(),
  }),
]) satisfies z.ZodType<ClipResult>;

export type CaptureCallDeps = Pick<CoreDeps, 'streams' | 'contactSheets'> & {
  resizeJpeg: ResizeJpeg;
  makeClip: MakeClip;
};

/** Handles a direct call in `capture`. Throws the errors of the ports. */
export async function handleCaptureCall(call: CaptureCall, deps: CaptureCallDeps): Promise<unknown> {
  const signal = AbortSignal.timeout(call.seconds * 1000);
  switch (call.operation) {
    case 'probe':
      return deps.streams.probe(call.url, signal, call.caller);
    case 'capture': {
      const { url, caller, mode, clip_seconds: clipSeconds, regions = null } = call;
      const request = { url, caller, mode, clipSeconds, regions, resolveAgain: false };
      return toAnswer(await deps.streams.capture(request, signal));
    }
    case 'sheet': {
      const samples = call.samples.map(({ frame, captured_at: capturedAt }) => ({ frame, capturedAt }));
      const layout = { columns: call.columns, tileWidthPixels: call.tile_width_pixels };
      return { sheet: base64(await deps.contactSheets.make(samples, layout, signal)) };
    }
    case 'clip': {
      const { opened_at: openedAt, behind_seconds: behindSeconds, key } = call;
      const { url, caller, mode, regions, from, to } = call;
      const span = { from, to, openedAt, behindSeconds };
      return deps.makeClip({ url, caller, mode, regions, ...span, key }, signal);
    }
    case 'resize':
      return { jpeg: base64(await deps.resizeJpeg(call.jpeg, call.width_pixels, signal)) };
  }
}

function toAnswer(capture: Capture) {
  const { frame, clip, thumbnail, capturedAt, position, isIntervalAssumed, keyFrameSeconds } = capture;
  const bytes = frame.length + (clip?.length ?? 0) + thumbnail.length;
  if (bytes * (4 / 3) > maxInvokePayloadBytes - 100_000)
    throw new StreamFetchError(
      'The capture is too large for a check without a job. Use a shorter clip, or input_mode "frames".',
      'Failed to capture video clip from stream',
    );
  return {
    frame: base64(frame),
    clip: clip === undefined ? null : base64(clip),
    thumbnail: base64(thumbnail),
    captured_at: capturedAt.toISOString(),
    position,
    interval_assumed: isIntervalAssumed,
    key_frame_seconds: keyFrameSeconds,
  };
}
