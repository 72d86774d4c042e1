import type { Limits } from '../dependencies.ts';
import { ModelBusyError, TooManyFramesError, VisionError } from '../vision-errors.ts';
import type { Called, CheckMedia, VisionModel } from '../ports/vision-model.ts';
import type { Scene } from '../records/moment.ts';
import type { Failure } from '../records/failure.ts';
import type { ConditionQuestion, EvidenceBox, ModelCall, MomentVerdicts } from '../records/vision.ts';
import { groupFrames } from '../sight/group-frames.ts';
import { createTimeLimit } from '../time-limit.ts';
import type { MomentMedia } from './read-media.ts';

/** Conditions of a check: together in one call, or each in a call of its own. */
export type Questions = { joint: readonly ConditionQuestion[]; separate: readonly ConditionQuestion[] };

export type ConditionVerdict = {
  triggered: boolean;
  explanation: string;
  boxes?: EvidenceBox[];
  shown_at_seconds?: number;
  prompt_version?: string;
  /** Present if it does not hold, but the picture may show it. */
  unsure?: true;
};

/** Answer of the model about one condition; `verdict` is `null` if it has none. */
export type ConditionAnswer = {
  condition_id: string;
  /** Text of the condition in the model call: an answer about an older text is dropped. */
  condition: string;
  verdict: ConditionVerdict | null;
  /** Reason of the model for no verdict; absent if it gave none. */
  unjudgedReason?: string;
  /** True if a joint call left the condition out, or named it twice. */
  leftOut: boolean;
  /** True if the call had several conditions. */
  joint: boolean;
};

/** Returns true if the call failed: the model has neither left the condition out nor said that it cannot judge it. */
export function isFailed({ verdict, unjudgedReason, leftOut }: ConditionAnswer): boolean {
  return verdict === null && unjudgedReason === undefined && !leftOut;
}

/** Answers of the model about a capture. */
export type Judgement = {
  /** Answers about the newest frame; none if it is black. */
  answers: ConditionAnswer[];
  /** Description of the newest frame, if it was asked for. */
  scene?: Scene;
  /** Answers about earlier moments of the capture, oldest first; empty without any. */
  earlier: { frame_key: string; captured_at: string; answers: ConditionAnswer[]; scene?: Scene }[];
  /** Failure of a call, if one failed. */
  failure: Failure | null;
  /** True if the model of this machine had too many images to judge: a call was omitted. */
  busy: boolean;
  calls: ModelCall[];
};

type Deps = {
  vision: Pick<VisionModel, 'capabilities' | 'judge'>;
  limits: Pick<Limits, 'visionTimeoutSeconds'>;
};

/** Moment of a check: its media, and the answers about it so far. */
type Moment = { media: CheckMedia; at: Date; answers: ConditionAnswer[]; scene?: Scene };

type Calls = Pick<Judgement, 'failure' | 'busy' | 'calls'>;

/** Conditions of one call. */
type Group = { group: readonly ConditionQuestion[]; isJoint: boolean; describes: boolean };

/** Returns the questions of each model call: all joint ones together, the others alone. */
export function groupQuestions({ joint, separate }: Questions): (readonly ConditionQuestion[])[] {
  const alone = separate.map((question) => [question]);
  return joint.length === 0 ? alone : [joint, ...alone];
}

/**
 * Requests verdicts of conditions about the newest frame and the earlier moments of a capture, within one time limit. A
 * failed call leaves its conditions without a verdict in its frames; the other calls count. `made` collects the calls,
 * also those of a check that is aborted.
 */
export async function askModel(
  questions: Questions,
  media: MomentMedia,
  { vision, limits }: Deps,
  signal?: AbortSignal,
  modelCalls: ModelCall[] = [],
): Promise<Judgement> {
  const calls: Calls = { failure: null, busy: false, calls: modelCalls };
  const signals = { given: signal, ends: createTimeLimit(limits.visionTimeoutSeconds, signal) };
  const { judgesMoments, usesPrevious } = vision.capabilities;
  const moments = listMoments(media, usesPrevious);
  const { mode, black = false, describes = false } = media;
  const groups = groupQuestions(questions).map((group, index) => ({
    group,
    isJoint: group === questions.joint,
    describes: describes && index === 0,
  }));
  let asked = 0;
  const count = { earlier: moments.length - (black ? 0 : 1), black };
  for (const size of groupFrames(count, mode, judgesMoments)) {
    const frames = moments.slice(asked, asked + size);
    asked += size;
    for (const group of groups) await ask(frames, group, vision, calls, signals);
  }
  const newest = black ? undefined : moments.at(-1);
  return {
    answers: newest?.answers ?? [],
    ...(newest?.scene && { scene: newest.scene }),
    earlier: (media.moments ?? []).map(({ frame_key, at }, index) => ({
      frame_key,
      captured_at: at.toISOString(),
      answers: moments[index]?.answers ?? [],
      ...(moments[index]?.scene && { scene: moments[index].scene }),
    })),
    ...calls,
  };
}

/** Makes one call and adds its answers to the frames; a call a frame if the server takes fewer in one. */
async function ask(
  frames: readonly Moment[],
  questions: Group,
  vision: Pick<VisionModel, 'judge'>,
  calls: Calls,
  { given, ends }: { given: AbortSignal | undefined; ends: AbortSignal },
): Promise<void> {
  const { group, isJoint } = questions;
  let result: (MomentVerdicts & Called) | undefined;
  try {
    // The time limit is one failure: no further call is made after it.
    if (!calls.failure || !ends.aborted) result = await judge(frames, questions, vision, ends);
    if (result) calls.calls.push(...(result.calls ?? [result.tokens]));
  } catch (error) {
    if (error instanceof TooManyFramesError || error instanceof VisionError) calls.calls.push(...error.calls);
    if (error instanceof TooManyFramesError && frames.length > 1) {
      for (const frame of frames) await ask([frame], questions, vision, calls, { given, ends });
      return;
    }
    // An aborted check is neither a verdict nor a failure of the model: the workflow repeats the task.
    if (given?.aborted || !(error instanceof VisionError)) throw error;
    note(error, calls);
  }
  const described = frames.at(-1);
  if (questions.describes && described && result) {
    const { scene, objects } = result;
    described.scene = { ...(scene && { scene }), ...(objects && { objects }) };
  }
  for (const [index, { answers }] of frames.entries()) {
    const verdicts = result && (result.moments[index] ?? []);
    answers.push(...group.map((condition) => readAnswer(condition, verdicts, isJoint)));
  }
}

function note(error: VisionError, calls: Calls): void {
  const { code, message, remediation } = error;
  if (error instanceof ModelBusyError) calls.busy = true;
  else calls.failure = { code, message, remediation };
}

/**
 * Lists the moments of a check, oldest first. A model that compares with the frame before gets that of the check before
 * with the oldest one.
 */
function listMoments(
  { at: newestAt, black, moments: earlier = [], previous, ...newest }: MomentMedia,
  usesPrevious: boolean,
): Moment[] {
  const { regions } = newest;
  const all: Omit<Moment, 'answers'>[] = [
    ...earlier.map(({ frame, at: time }) => ({
      at: time,
      media: { mode: 'frames' as const, frame, ...(regions !== undefined && { regions }) },
    })),
    ...(black ? [] : [{ at: newestAt, media: newest }]),
  ];
  return all.map((moment, index) => {
    const before = index === 0 ? previous : usesPrevious ? all[index - 1]?.media.frame : undefined;
    return { ...moment, media: { ...moment.media, ...(before && { previous: before }) }, answers: [] };
  });
}

/** Calls the model about the last of some frames, and those before. */
async function judge(
  frames: readonly Moment[],
  { group, describes }: Group,
  vision: Pick<VisionModel, 'judge'>,
  signal: AbortSignal,
): Promise<MomentVerdicts & Called> {
  const newest = frames.at(-1);
  if (!newest) throw new Error('A call has a frame');
  const earlier = frames.slice(0, -1).map(({ media: { frame }, at }) => ({
    frame,
    secondsBefore: (newest.at.getTime() - at.getTime()) / 1000,
  }));
  const previous = frames[0]?.media.previous;
  const { previous: _, describes: __, ...media } = newest.media;
  return vision.judge(
    {
      ...media,
      ...(earlier.length > 0 && { earlier }),
      ...(previous && { previous }),
      ...(describes && { describes }),
    },
    group,
    signal,
  );
}

/**
 * A missing or doubled id leaves the condition without a verdict, because its text is ambiguous; so does a call that
 * failed, without verdicts.
 */
function readAnswer(
  condition: ConditionQuestion,
  verdicts: MomentVerdicts['moments'][number] | undefined,
  joint: boolean,
): ConditionAnswer {
  if (!verdicts) return withoutVerdict(condition, joint);
  const named = verdicts.filter(({ condition_id: id }) => id === condition.condition_id);
  const [verdict] = named;
  if (!verdict || named.length > 1) return { ...withoutVerdict(condition, joint), leftOut: joint };
  const { triggered, explanation, boxes, shown_at_seconds, prompt_version, unsure } = verdict;
  if (triggered === null) return { ...withoutVerdict(condition, joint), unjudgedReason: explanation };
  return {
    ...withoutVerdict(condition, joint),
    verdict: {
      triggered,
      explanation,
      ...(boxes && { boxes }),
      ...(shown_at_seconds !== undefined && { shown_at_seconds }),
      ...(prompt_version !== undefined && { prompt_version }),
      ...(unsure && { unsure }),
    },
  };
}

function withoutVerdict({ condition_id, condition }: ConditionQuestion, joint: boolean): ConditionAnswer {
  return { condition_id, condition, verdict: null, leftOut: false, joint };
}
