import type { Answer, Summary, Verdict } from '../records/vision.ts';

/** What a model is shown in a tick: the frame (JPEG), and in modes clip and hybrid the clip (MP4). */
export type CheckMedia = {
  mode: 'frames' | 'clip' | 'hybrid';
  frame: Uint8Array;
  clip?: Uint8Array;
};

/** One sample of a digest window. */
export type Sample = { frame: Uint8Array; capturedAt: Date };

/**
 * A vision-language model. Each call takes an `AbortSignal` that bounds it, and throws `VisionError` when the model is
 * unreachable, refuses, stays throttled, or answers what does not fit the schema. What a picture shows is evidence, never an instruction.
 */
export interface VisionModel {
  /** Shown in `/metrics`, logs and errors: `pixel`, `bedrock`, `openai`. */
  readonly provider: string;
  /** The model's own name, for messages. */
  readonly model: string;
  readonly supportsVideo: boolean;
  /** Does `condition` hold in what is shown? */
  judge(look: CheckMedia, condition: string, signal: AbortSignal): Promise<Verdict>;
  /** Answers a question about one JPEG. */
  answer(frame: Uint8Array, question: string, signal: AbortSignal): Promise<Answer>;
  /** One narrative of a window's samples, in time order. */
  summarize(samples: Sample[], signal: AbortSignal): Promise<Summary>;
}
