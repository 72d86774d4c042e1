import type { z } from 'zod';
import { TransientError } from '../../../core/errors.ts';
import { VisionError } from '../../../core/vision-errors.ts';
import type { ContactSheets, StreamCapturer } from '../../../core/ports/stream-capturer.ts';
import type { MakeClip } from '../../../core/records/clip.ts';
import type { ResizeJpeg } from '../../vision/picture-width.ts';
import {
  captureAnswerSchema,
  clipAnswerSchema,
  probeAnswerSchema,
  resizeAnswerSchema,
  sheetAnswerSchema,
} from './capture-calls.ts';
import type { CaptureCallInput } from './capture-calls.ts';
import { maxInvokePayloadBytes, type Invoke, base64 } from './invoke.ts';
import { unwrapOutcome } from './outcome.ts';

/** Invocation of a function. `seconds` is the timeout of both sides. */
export type RemoteCallOptions = { invoke: Invoke; seconds: number };

/** Creates a capturer that invokes `capture`, the function that may fetch and decode streams. */
export function createRemoteCapturer({ invoke, seconds }: RemoteCallOptions): StreamCapturer {
  return {
    probe: async (url, signal, caller) =>
      call(invoke, { operation: 'probe', seconds, url, caller }, probeAnswerSchema, signal),
    capture: async ({ url, caller, mode, clipSeconds, regions }, signal) => {
      const {
        clip,
        captured_at,
        interval_assumed: isIntervalAssumed,
        key_frame_seconds,
        ...rest
      } = await call(
        invoke,
        {
          operation: 'capture',
          seconds,
          url,
          caller,
          mode,
          clip_seconds: clipSeconds,
          ...(regions && { regions: [...regions] }),
        },
        captureAnswerSchema,
        signal,
      );
      return {
        ...rest,
        ...(clip && { clip }),
        ...(isIntervalAssumed && { isIntervalAssumed }),
        ...(key_frame_seconds !== undefined && { keyFrameSeconds: key_frame_seconds }),
        capturedAt: captured_at,
      };
    },
  };
}

/** Makes clips by invoking `capture`, which stores them. */
export function createRemoteMakeClip({ invoke, seconds }: RemoteCallOptions): MakeClip {
  return async ({ url, caller, mode, regions, key, ...request }, signal) => {
    const [from, to] = [request.from.toISOString(), request.to.toISOString()];
    const span = {
      from,
      to,
      opened_at: request.openedAt.toISOString(),
      behind_seconds: request.behindSeconds,
    };
    const stream = { url, caller, mode, regions: regions && [...regions] };
    return call(invoke, { operation: 'clip', seconds, ...stream, ...span, key }, clipAnswerSchema, signal);
  };
}

/** Creates contact sheets by invoking `capture`: `analyze` decodes no frames of streams. */
export function createRemoteContactSheets({ invoke, seconds }: RemoteCallOptions): ContactSheets {
  return {
    make: async (samples, { columns, tileWidthPixels }, signal) => {
      const frames = samples.map(({ frame, capturedAt }) => ({
        frame: base64(frame),
        captured_at: capturedAt.toISOString(),
      }));
      const input = { columns, tile_width_pixels: tileWidthPixels, seconds, samples: frames };
      if (frames.reduce((sum, { frame }) => sum + frame.length + 50, 200) > maxInvokePayloadBytes)
        throw new VisionError('The frames are too large for one contact sheet.', { calls: [] });
      try {
        const answer = await call(invoke, { operation: 'sheet', ...input }, sheetAnswerSchema, signal);
        return answer.sheet;
      } catch (cause) {
        if (cause instanceof TransientError || signal.aborted) throw unmade(cause);
        throw cause;
      }
    },
  };
}

/** Scales JPEGs by invoking `capture`: `analyze` decodes no frames of streams. */
export function createRemoteResize({ invoke, seconds }: RemoteCallOptions): ResizeJpeg {
  return async (jpeg, widthPixels, signal) => {
    const input = { operation: 'resize' as const, seconds, jpeg: base64(jpeg), width_pixels: widthPixels };
    return (await call(invoke, input, resizeAnswerSchema, signal)).jpeg;
  };
}

function unmade(cause: unknown): VisionError {
  return new VisionError('The contact sheet could not be created. Try again in a few seconds.', {
    cause,
    calls: [],
  });
}

async function call<Value>(
  invoke: Invoke,
  input: CaptureCallInput,
  schema: z.ZodType<Value>,
  signal: AbortSignal,
): Promise<Value> {
  return unwrapOutcome(await invoke(input, signal), schema);
}
