import { VisionError } from '../../../core/errors.ts';
import type {
  AnswerOfSeveral,
  CheckMedia,
  MomentFrame,
  PartialFailure,
  VisionModel,
} from '../../../core/ports/vision-model.ts';
import type {
  Answer,
  ConditionQuestion,
  ConditionVerdicts,
  MomentVerdicts,
  Verdict,
} from '../../../core/records/vision.ts';
import { listSureAnswers } from '../objects/decide-surely.ts';
import type { ObjectsVision } from '../objects/objects-vision.ts';
import { isOpen } from '../pixel/pixel-vision.ts';

export type Models = { first: ObjectsVision; second: VisionModel };
type Entry = ConditionVerdicts['verdicts'][number];
const maxExplanationCharacters = 600;
const tokens = { input_tokens: 0, output_tokens: 0 };

/**
 * Creates a model of two: the object model answers what it judges surely, the second one is asked for the rest, also if the object model fails. Calls are
 * those of the second. If it fails, the sure verdicts of a joint call stay; a call without any throws its `VisionError`.
 */
export function createCombinedVision(models: Models): VisionModel {
  const { first, second } = models;
  const judgeMoments = second.judgeMoments?.bind(second);
  return {
    provider: `${first.provider}+${second.provider}`,
    model: `${first.model}+${second.model}`,
    supportsVideo: first.supportsVideo && second.supportsVideo,
    ...(second.usesPrevious !== undefined && { usesPrevious: second.usesPrevious }),
    ...(second.callsAtOnce !== undefined && { callsAtOnce: second.callsAtOnce }),
    loading: () => second.loading?.(),
    close: () => second.close?.(),
    parts: [first, second],
    explainParts: (condition) => explainParts(condition, second.model),

    async prepare(signal) {
      await first.prepare?.(signal);
      await second.prepare?.(signal);
    },

    judge: async (media, condition, signal) =>
      (await judgeSurely(media, condition, first, signal)) ?? judgeBySecond(media, condition, second, signal),

    async judgeConditions(media, questions, signal) {
      const known = await listSure(media, questions, first, signal);
      const rest = questions.filter(({ condition_id: id }) => !hasVerdict(known, id));
      const ask = async () => {
        const { verdicts, ...answer } = await askSecond(media, rest, second, signal);
        return { moments: [verdicts], ...answer };
      };
      const { moments, ...answer } = await complete([known], rest.length > 0 ? ask : undefined, second);
      return { verdicts: moments[0] ?? [], ...answer };
    },

    ...(judgeMoments && {
      judgeMoments: async (
        frames: readonly MomentFrame[],
        questions: readonly ConditionQuestion[],
        options: Pick<CheckMedia, 'regions' | 'previous'>,
        signal: AbortSignal,
      ) => {
        const known: Entry[][] = [];
        for (const { frame } of frames)
          known.push(await listSure({ mode: 'frames', frame, ...options }, questions, first, signal));
        const unsure = selectUnsure(frames, questions, known);
        const ask = async () => {
          const asked = { ...options, ...unsure.previous };
          const [only, further] = unsure.frames;
          const { moments, ...answer } =
            only && !further
              ? await askAboutOne({ mode: 'frames', frame: only.frame, ...asked }, unsure.questions)
              : await judgeMoments(unsure.frames, unsure.questions, asked, signal);
          return {
            moments: frames.map((frame) => moments[unsure.frames.indexOf(frame)] ?? []),
            ...answer,
          };
        };
        const askAboutOne = async (media: CheckMedia, rest: readonly ConditionQuestion[]) => {
          const { verdicts, ...answer } = await askSecond(media, rest, second, signal);
          return { moments: [verdicts], ...answer };
        };
        return complete(known, unsure.frames.length > 0 ? ask : undefined, second);
      },
    }),

    answer: async (frame, question, signal) =>
      (await answerSurely(frame, question, first, signal)) ?? {
        ...(await second.answer(frame, question, signal)),
        judgedBy: formatName(second),
      },

    summarize: async (samples, signal) => ({
      ...(await second.summarize(samples, signal)),
      judgedBy: formatName(second),
    }),
  };
}

/** Returns the verdict of the object model if it is sure of it. Its failure leaves the condition to the second model. */
async function judgeSurely(
  media: CheckMedia,
  condition: string,
  first: ObjectsVision,
  signal: AbortSignal,
): Promise<(Verdict & AnswerOfSeveral) | undefined> {
  if (listSureAnswers(condition).length === 0) return undefined;
  return unlessFailed(signal, async () => {
    const verdict = await first.judge(media, condition, signal);
    const isSure = await first.isSure(media, condition, verdict.triggered, signal);
    return isSure ? { ...verdict, calls: [], judgedBy: formatName(first) } : undefined;
  });
}

async function answerSurely(
  frame: Uint8Array,
  question: string,
  first: ObjectsVision,
  signal: AbortSignal,
): Promise<(Answer & AnswerOfSeveral) | undefined> {
  if (isOpen(question) || listSureAnswers(question).length === 0) return undefined;
  return unlessFailed(signal, async () => {
    const answer = await first.answer(frame, question, signal);
    const isSure =
      answer.triggered !== null &&
      (await first.isSure({ mode: 'frames', frame }, question, answer.triggered, signal));
    return isSure ? { ...answer, calls: [], judgedBy: formatName(first) } : undefined;
  });
}

async function unlessFailed<Result>(
  signal: AbortSignal,
  work: () => Promise<Result>,
): Promise<Result | undefined> {
  try {
    return await work();
  } catch (error) {
    if (signal.aborted || !(error instanceof VisionError)) throw error;
    return undefined;
  }
}

/** Returns the sure verdicts of the object model, one after the other: they share the detections of the frame. */
async function listSure(
  media: CheckMedia,
  questions: readonly ConditionQuestion[],
  first: ObjectsVision,
  signal: AbortSignal,
): Promise<Entry[]> {
  const sure: Entry[] = [];
  for (const { condition_id, condition } of questions) {
    const verdict = await judgeSurely(media, condition, first, signal);
    if (verdict === undefined) continue;
    const { tokens: _, calls: __, judgedBy: ___, judged: ____, ...entry } = verdict;
    sure.push({ condition_id, ...entry });
  }
  return sure;
}

/** Selects the frames and the questions without a sure verdict, and the frame before the first of them. */
function selectUnsure(
  frames: readonly MomentFrame[],
  questions: readonly ConditionQuestion[],
  known: readonly Entry[][],
) {
  const isUnsure = (at: number, { condition_id: id }: ConditionQuestion) => !hasVerdict(known[at] ?? [], id);
  const asked = frames.filter((_, at) => questions.some((question) => isUnsure(at, question)));
  const before = frames.find((_, at) => asked[0] !== undefined && frames[at + 1] === asked[0]);
  return {
    frames: asked,
    questions: questions.filter((question) => frames.some((_, at) => isUnsure(at, question))),
    previous: before && { previous: before.frame },
  };
}

/** Asks the second model about several conditions of a frame; a single one has the call for one. */
async function askSecond(
  media: CheckMedia,
  questions: readonly ConditionQuestion[],
  second: VisionModel,
  signal: AbortSignal,
): Promise<ConditionVerdicts> {
  if (second.judgeConditions) return second.judgeConditions(media, questions, signal);
  const verdicts: Entry[] = [];
  const used = { ...tokens };
  for (const { condition_id, condition } of questions) {
    const { tokens: of, judged, triggered, ...rest } = await second.judge(media, condition, signal);
    verdicts.push({ condition_id, triggered: judged === false ? null : triggered, ...rest });
    used.input_tokens += of.input_tokens;
    used.output_tokens += of.output_tokens;
  }
  return { verdicts, tokens: used };
}

async function judgeBySecond(
  media: CheckMedia,
  condition: string,
  second: VisionModel,
  signal: AbortSignal,
): Promise<Verdict & AnswerOfSeveral> {
  const verdict = await second.judge(media, condition, signal);
  return { ...verdict, explanation: signed(verdict.explanation, second), judgedBy: formatName(second) };
}

/** Completes the sure verdicts of each frame by those of the second model. `ask` is undefined if nothing is left to ask. */
async function complete(
  known: Entry[][],
  ask: (() => Promise<MomentVerdicts>) | undefined,
  second: VisionModel,
): Promise<MomentVerdicts & AnswerOfSeveral & PartialFailure> {
  if (ask === undefined) return { moments: known, tokens, calls: [] };
  try {
    const { moments, tokens: used } = await ask();
    const all = known.map((sure, at) => [
      ...sure,
      ...(moments[at] ?? [])
        .filter(({ condition_id: id }) => !hasVerdict(sure, id))
        .map((entry) => ({ ...entry, explanation: signed(entry.explanation, second) })),
    ]);
    return { moments: all, tokens: used, calls: [used] };
  } catch (error) {
    if (!(error instanceof VisionError) || known.every(({ length }) => length === 0)) throw error;
    return { moments: known, tokens, calls: error.calls, failure: error };
  }
}

function hasVerdict(entries: readonly Entry[], id: string): boolean {
  return entries.some(({ condition_id: other }) => other === id);
}

/** Adds the name of the model to an explanation; that of the object model names itself. */
function signed(explanation: string, { model }: VisionModel): string {
  const name = ` Judged by ${model.slice(0, 100)}.`;
  return `${explanation.slice(0, maxExplanationCharacters - name.length)}${name}`;
}

function formatName({ provider, model }: VisionModel) {
  return { provider, model };
}

/** Share of the checks in which forecasts assume that the second model is asked about a condition of which the object model can be sure. */
const assumedAskedShare = 0.5;

/** Says which model answers a condition, and in which share of the checks the second one is expected to be asked. */
function explainParts(condition: string, second: string): { message: string; askedShare: number } {
  const answers = listSureAnswers(condition);
  if (answers.length === 0)
    return {
      message: `Each check asks ${second}: the built-in object model cannot be sure of this.`,
      askedShare: 1,
    };
  const words = answers.map((answer) => (answer ? 'yes' : 'no')).join(' or ');
  return {
    message: `The built-in object model answers ${words} where it is sure, ${second} the rest. The forecast assumes half of the checks for each.`,
    askedShare: assumedAskedShare,
  };
}
