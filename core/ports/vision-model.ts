import type { Region } from '../records/capture.ts';
import type {
  Answer,
  ConditionQuestion,
  ConditionVerdicts,
  ModelCall,
  MomentVerdicts,
  Sensitivity,
  Summary,
  Verdict,
} from '../records/vision.ts';

/** Media of a check: the frame (JPEG), and in modes clip and hybrid the clip (MP4). */
export type CheckMedia = {
  mode: 'frames' | 'clip' | 'hybrid';
  frame: Uint8Array;
  clip?: Uint8Array;
  /** Frame of the check before, for models that use it. */
  previous?: Uint8Array;
  /** Regions that are drawn into frame and clip: excluded ones are black, included ones outlined in white. */
  regions?: readonly Region[] | null;
  /** Sensitivity of the condition of `judge`; a joint call has one for each condition. */
  sensitivity?: Sensitivity;
};

/** Frame of one moment of a stream. */
export type MomentFrame = { frame: Uint8Array; at: Date };

/**
 * Part of a condition that a model does not judge: a place or a time, which it ignores; a word that means less than what the model counts
 * instead ("an intruder" is any person); other words.
 */
export type UnjudgedPart = {
  words: string;
  kind: 'place' | 'time' | 'narrower' | 'words';
  /** Names of the things that count instead of a narrower word. */
  countsAs?: string;
};

/** `calls` is empty if a gate answered without a call; absent: one call, with the tokens of the answer. */
export type Called = { calls?: readonly ModelCall[] };

/** Sample of a digest window, as JPEG. */
export type Sample = { frame: Uint8Array; capturedAt: Date };

/**
 * Vision-language model. Each call ends when its `AbortSignal` aborts. Throws `VisionError` if the model is unreachable,
 * refuses, stays throttled or returns an invalid result. Text in an image is evidence, never an instruction.
 */
export interface VisionModel {
  /** Name in `/metrics`, logs and errors: `objects`, `local`, `bedrock`, `openai`; behind a gate `objects+openai`. */
  readonly provider: string;
  /** Model id of the provider, for messages. */
  readonly model: string;
  readonly supportsVideo: boolean;
  /** True if the model judges several frames in one call elsewhere; absent if `judgeMoments` says so. */
  readonly judgesMoments?: boolean | undefined;
  /** Loads what the first call needs; absent if nothing is loaded. */
  prepare?(signal: AbortSignal): Promise<void>;
  /** Returns what is being loaded and for how long, as a sentence; undefined if nothing is. */
  loading?(): string | undefined;
  /** Concurrent calls that this machine has capacity for; absent if others run them. */
  readonly callsAtOnce?: number | undefined;
  /** Ends what `prepare` has started. */
  close?(): void;
  /** True if the model compares a frame with that of the check before. */
  readonly usesPrevious?: boolean;
  /** True if the sensitivity of a condition has an effect. */
  readonly hasSensitivity?: boolean;
  /** Conditions that the model judges well, for forms. Absent: it judges any. */
  readonly conditionExamples?: readonly string[];
  /** Returns why the model can never judge the condition, as a sentence; undefined if it may. Absent: it judges any. */
  reasonNotToJudge?(condition: string): string | undefined;
  /** Returns the parts of a condition that the model does not judge, whatever the capture. Absent: it judges all. */
  unjudgedParts?(condition: string): UnjudgedPart[];
  /** Checks whether `condition` holds in the media. */
  judge(media: CheckMedia, condition: string, signal: AbortSignal): Promise<Verdict & Called>;
  /** Checks several conditions in one call. Absent if the model has no such call: then each condition is a call of `judge`. */
  judgeConditions?(
    media: CheckMedia,
    questions: readonly ConditionQuestion[],
    signal: AbortSignal,
  ): Promise<ConditionVerdicts & Called>;
  /**
   * Checks conditions in several frames of one stream, oldest first, in one call. `moments` has one entry per frame. Absent if the model has
   * no such call: then each frame is a call. Throws `TooManyFramesError` if the server takes fewer frames. `previous` is the frame of the
   * check before, for models that use it.
   */
  judgeMoments?(
    frames: readonly MomentFrame[],
    questions: readonly ConditionQuestion[],
    options: Pick<CheckMedia, 'regions' | 'previous'>,
    signal: AbortSignal,
  ): Promise<MomentVerdicts & Called>;
  /** Answers a question about one JPEG. */
  answer(frame: Uint8Array, question: string, signal: AbortSignal): Promise<Answer & Called>;
  /** Summarizes the samples of a window, given in time order. */
  summarize(samples: Sample[], signal: AbortSignal): Promise<Summary & Called>;
}
