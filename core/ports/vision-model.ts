import type { Region } from '../records/capture.ts';
import type {
  Answer,
  ConditionQuestion,
  ModelCall,
  MomentVerdicts,
  PictureMatches,
  PicturesAnswer,
  QueryWords,
  Summary,
  TokenUse,
  Verdict,
} from '../records/vision.ts';
import type { ClosureResult, WindowClosure } from '../records/window-closure.ts';
import type { JobOf } from '../records/job.ts';
import { VisionError } from '../vision-errors.ts';

/** Earlier frame of the stream, with the time from it to the newest frame. */
export type EarlierFrame = { frame: Uint8Array; secondsBefore: number };

/** Media of a check: the newest frame (JPEG), and in modes clip and hybrid the clip (MP4). */
export type CheckMedia = {
  mode: 'frames' | 'clip' | 'hybrid';
  frame: Uint8Array;
  clip?: Uint8Array | undefined;
  /** Frames before, oldest first, which are judged too; only for models that judge moments, and without a clip. */
  earlier?: readonly EarlierFrame[] | undefined;
  /** Frame of the check before, for models that use it. */
  previous?: Uint8Array | undefined;
  /** Regions that are drawn into frame and clip: excluded ones are black, included ones outlined in white. */
  regions?: readonly Region[] | null | undefined;
  /** True to describe the newest frame too, whatever the conditions. */
  describes?: boolean | undefined;
};

/**
 * Part of a condition that a model does not judge: a place or a time, which it ignores; a word that means less than
 * what the model counts instead ("an intruder" is any person); other words.
 */
export type UnjudgedPart = {
  words: string;
  kind: 'place' | 'time' | 'narrower' | 'words';
  /** Names of the things that count instead of a narrower word. */
  countsAs?: string;
};

/** Reading of a condition by a model, whatever the capture. */
export type ConditionReading = {
  /** Reason why the model can never judge the condition, as a sentence; `null` if it may. */
  reasonNotToJudge: string | null;
  /** Parts of the condition that it does not judge. */
  unjudgedParts: readonly UnjudgedPart[];
};

/** Abilities of a model, known without a call. */
export type Capabilities = {
  supportsVideo: boolean;
  /** True if it judges several frames in one call. */
  judgesMoments: boolean;
  /** True if it compares a frame with that of the check before. */
  usesPrevious: boolean;
  /** Maximum pictures of a call of `matches`. */
  maxPictures: number;
  /** True if the sensitivity of a condition has an effect. */
  hasSensitivity: boolean;
  /** Concurrent calls that this machine has capacity for; `null` if others run them. */
  callsAtOnce: number | null;
  /** Conditions that it judges well, for forms. */
  conditionExamples: readonly string[];
  readCondition(condition: string): ConditionReading;
  /**
   * Present for a model that answers questions about visits only: the kind of a question, `null` for another one, and
   * the things in a text, each by its names. Absent: it is asked about pictures.
   */
  visits?: { readQuestion(question: string): VisitQuestion | null; readThings(text: string): string[][] };
};

/** Capabilities of a model that judges any condition by one picture. */
export const anyCondition: Capabilities = {
  supportsVideo: false,
  judgesMoments: false,
  usesPrevious: false,
  maxPictures: 8,
  hasSensitivity: false,
  callsAtOnce: null,
  conditionExamples: ['A person is at the door', 'A car is in the yard', 'Smoke or fire is visible'],
  readCondition: () => ({ reasonNotToJudge: null, unjudgedParts: [] }),
};

/** Loading and end of a model that runs on this machine. */
export type ModelLifecycle = {
  prepare(signal: AbortSignal): Promise<void>;
  /** Returns what is being loaded and for how long, as a sentence; undefined if nothing is. */
  loading(): string | undefined;
  /** Ends what `prepare` has started. */
  close(): void;
};

/** Lifecycle of a model that has nothing to load. */
export const alwaysLoaded: ModelLifecycle = {
  prepare: async () => undefined,
  loading: () => undefined,
  close: () => undefined,
};

/** `calls` is empty if a gate answered without a call; absent: one call, with the tokens of the answer. */
export type Called = { calls?: readonly ModelCall[] | undefined };

/**
 * Picture of a question, with what is known about it: its camera, its time and that of its visit, and a sentence that a
 * model wrote.
 */
export type DescribedPicture = { frame: Uint8Array; camera: string; time: string; sentence: string };

/**
 * Question that a model answers without pictures, from what was detected: how often, when last, or whether something
 * was there.
 */
export type VisitQuestion = {
  asks: 'what' | 'count' | 'last' | 'whether';
  day: 'today' | 'yesterday' | null;
  /** Words that it does not answer: times, places, colors. */
  unread: readonly string[];
};

/** Sample of a digest window, as JPEG. */
export type Sample = { frame: Uint8Array; capturedAt: Date };

/**
 * Vision-language model: a plain object, so that `{ ...model, judge }` wraps it. Each call ends when its `AbortSignal`
 * aborts. Throws `VisionError` if the model is unreachable, refuses, stays throttled or returns an invalid result. Text
 * in an image is evidence, never an instruction.
 */
export interface VisionModel {
  /** Name in `/metrics`, logs and errors: `objects`, `local`, `bedrock`, `openai`; behind a gate `objects+openai`. */
  readonly provider: string;
  /** Model id of the provider, for messages. */
  readonly model: string;
  readonly capabilities: Capabilities;
  readonly lifecycle: ModelLifecycle;
  /**
   * Checks conditions in the frames of a capture, in one call. `moments` has one entry per frame, oldest first. Throws
   * `TooManyFramesError` if the server takes fewer frames.
   */
  judge(
    media: CheckMedia,
    questions: readonly ConditionQuestion[],
    signal: AbortSignal,
  ): Promise<MomentVerdicts & Called>;
  /** Answers a question about one JPEG. */
  answer(frame: Uint8Array, question: string, signal: AbortSignal): Promise<Answer & Called>;
  /** Returns words, in English, that sentences about what a query describes are likely to have. */
  words(query: string, signal: AbortSignal): Promise<QueryWords & Called>;
  /**
   * Decides for each picture whether it shows what a query describes, in one call. Throws `VisionError` also if the
   * server takes fewer.
   */
  matches(
    pictures: readonly Uint8Array[],
    query: string,
    signal: AbortSignal,
  ): Promise<PictureMatches & Called>;
  /**
   * Answers a question about numbered pictures, at most `maxTiles` for each of `maxPictures`, in one call. A statement
   * may name a picture that there is not.
   */
  answerAbout(
    pictures: readonly DescribedPicture[],
    question: string,
    signal: AbortSignal,
  ): Promise<PicturesAnswer & Called>;
  /** Summarizes the samples of a window, given in time order. */
  summarize(samples: Sample[], signal: AbortSignal): Promise<Summary & Called>;
}

/** Summarizes the last windows of a cancelled digest: in process, or by invoking `analyze` on AWS. */
export interface WindowSummarizer {
  /** Takes at most `seconds`. An error drops the summary and never blocks the cancellation. */
  summarize(job: JobOf<'digest'>, closing: WindowClosure, seconds: number): Promise<ClosureResult>;
}

/** Runs a model call, which can be aborted by `signal`. */
type AroundCall = <Result extends { tokens: TokenUse }>(
  call: () => Promise<Result>,
  signal: AbortSignal,
) => Promise<Result>;

/** Returns a model that makes each of its calls through `around`. */
export function wrapModel(model: VisionModel, around: AroundCall): VisionModel {
  return {
    ...model,
    judge: async (media, questions, signal) =>
      around(async () => model.judge(media, questions, signal), signal),
    answer: async (frame, question, signal) =>
      around(async () => model.answer(frame, question, signal), signal),
    words: async (query, signal) => around(async () => model.words(query, signal), signal),
    matches: async (pictures, query, signal) =>
      around(async () => model.matches(pictures, query, signal), signal),
    answerAbout: async (pictures, question, signal) =>
      around(async () => model.answerAbout(pictures, question, signal), signal),
    summarize: async (samples, signal) => around(async () => model.summarize(samples, signal), signal),
  };
}

/** Checks one condition in the newest frame of a capture. Throws the errors of `judge`. */
export async function judgeCondition(
  vision: Pick<VisionModel, 'judge'>,
  media: CheckMedia,
  question: Omit<ConditionQuestion, 'condition_id'>,
  signal: AbortSignal,
): Promise<Verdict & Called> {
  const condition_id = 'condition';
  const { moments, tokens, calls } = await vision.judge(media, [{ condition_id, ...question }], signal);
  const answer = moments.at(-1)?.find((entry) => entry.condition_id === condition_id);
  if (answer === undefined)
    throw new VisionError('The model has left the condition out. Try again.', { calls: calls ?? [tokens] });
  const { condition_id: _, triggered, ...verdict } = answer;
  return {
    ...verdict,
    triggered: triggered === true,
    ...(triggered === null && { judged: false }),
    tokens,
    ...(calls && { calls }),
  };
}
