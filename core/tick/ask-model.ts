import type { Limits } from '../dependencies.ts';
import { ModelBusyError, VisionError } from '../errors.ts';
import type { CheckMedia, VisionModel } from '../ports/vision-model.ts';
import type { Failure } from '../records/failure.ts';
import type { ConditionQuestion, ConditionVerdicts, EvidenceBox, TokenUse } from '../records/vision.ts';
import { createTimeLimit } from '../time-limit.ts';

/** Conditions of a check: together in one call, or each in a call of its own. */
export type Questions = { joint: readonly ConditionQuestion[]; separate: readonly ConditionQuestion[] };

/** Verdict on one condition. */
export type ConditionVerdict = {
  triggered: boolean;
  explanation: string;
  boxes?: EvidenceBox[];
  shown_at_seconds?: number;
  prompt_version?: string;
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

/** Answers of the model about a capture. */
export type Judgement = {
  answers: ConditionAnswer[];
  /** Failure of a call, if one failed. */
  failure: Failure | null;
  /** True if the model of this machine had too many images to judge: a call was omitted. */
  busy: boolean;
  /** One entry per call; `null` for a call that failed, whose tokens are unknown. */
  calls: (TokenUse | null)[];
};

type Deps = { vision: VisionModel; limits: Pick<Limits, 'visionTimeoutSeconds'> };

/** Returns the questions of each model call: all joint ones together if the model can, the others alone. */
export function groupQuestions(
  { joint, separate }: Questions,
  canJudgeJointly: boolean,
): (readonly ConditionQuestion[])[] {
  const alone = separate.map((condition) => [condition]);
  if (!canJudgeJointly) return [...joint.map((condition) => [condition]), ...alone];
  return joint.length === 0 ? alone : [joint, ...alone];
}

/** Requests verdicts of conditions. A failed call leaves its conditions without a verdict; the other calls count. */
export async function askModel(
  questions: Questions,
  media: CheckMedia,
  deps: Deps,
  signal?: AbortSignal,
): Promise<Judgement> {
  const judged: Judgement = { answers: [], failure: null, busy: false, calls: [] };
  const ends = createTimeLimit(deps.limits.visionTimeoutSeconds, signal);
  for (const group of groupQuestions(questions, deps.vision.judgeConditions !== undefined)) {
    const isJoint = group.every((condition) => questions.joint.includes(condition));
    try {
      const result = await judge(group, isJoint, media, deps.vision, ends);
      judged.calls.push(result.tokens);
      judged.answers.push(...group.map((condition) => readAnswer(condition, result, isJoint)));
    } catch (error) {
      // An aborted check is neither a verdict nor a failure of the model: the workflow repeats the task.
      if (signal?.aborted || !(error instanceof VisionError)) throw error;
      if (error instanceof ModelBusyError) {
        judged.busy = true;
      } else {
        const { code, message, remediation } = error;
        judged.failure = { code, message, remediation };
        judged.calls.push(null);
      }
      judged.answers.push(...group.map((condition) => withoutVerdict(condition, isJoint)));
    }
  }
  return judged;
}

/** Uses the joint call, also for one condition; the call for one condition if the joint call has left it out too often. */
async function judge(
  group: readonly ConditionQuestion[],
  isJoint: boolean,
  media: CheckMedia,
  vision: VisionModel,
  signal: AbortSignal,
): Promise<ConditionVerdicts> {
  if (isJoint && vision.judgeConditions) return vision.judgeConditions(media, group, signal);
  const [question] = group;
  if (!question || group.length > 1) throw new Error('A call for one condition has one condition');
  const { tokens, judged, triggered, ...rest } = await vision.judge(media, question.condition, signal);
  const verdict = { triggered: judged === false ? null : triggered, ...rest };
  return { verdicts: [{ condition_id: question.condition_id, ...verdict }], tokens };
}

/** A missing or doubled id leaves the condition without a verdict, because its text is ambiguous. */
function readAnswer(
  condition: ConditionQuestion,
  { verdicts }: ConditionVerdicts,
  joint: boolean,
): ConditionAnswer {
  const found = verdicts.filter(({ condition_id: id }) => id === condition.condition_id);
  const [verdict] = found;
  if (!verdict || found.length > 1) return { ...withoutVerdict(condition, joint), leftOut: joint };
  const { triggered, explanation, boxes, shown_at_seconds, prompt_version } = verdict;
  if (triggered === null) return { ...withoutVerdict(condition, joint), unjudgedReason: explanation };
  return {
    ...withoutVerdict(condition, joint),
    verdict: {
      triggered,
      explanation,
      ...(boxes && { boxes }),
      ...(shown_at_seconds !== undefined && { shown_at_seconds }),
      ...(prompt_version !== undefined && { prompt_version }),
    },
  };
}

function withoutVerdict({ condition_id, condition }: ConditionQuestion, joint: boolean): ConditionAnswer {
  return { condition_id, condition, verdict: null, leftOut: false, joint };
}
