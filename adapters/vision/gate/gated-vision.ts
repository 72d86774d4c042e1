import { VisionError } from '../../../core/errors.ts';
import type { Called, CheckMedia, VisionModel } from '../../../core/ports/vision-model.ts';
import type { ConditionQuestion, ConditionVerdicts, Verdict } from '../../../core/records/vision.ts';
import { isOpen } from '../objects/answer-open.ts';
import type { ObjectDetector } from '../objects/detector.ts';
import { createMomentReader, type MomentReader } from '../objects/object-moments.ts';
import type { PictureDecoder } from '../pixel/image-decoder.ts';
import { findMissing } from './traces.ts';

type Entry = ConditionVerdicts['verdicts'][number];

const tokens = { input_tokens: 0, output_tokens: 0 };
const maxExplanationCharacters = 600;

export type GateDeps = {
  decoder: PictureDecoder;
  detector: ObjectDetector;
  vision: VisionModel;
  /** Reports that the detector fails, or works again, as a sentence. */
  report?: ((text: string) => void) | undefined;
};

/** Detector of the gate, which leaves a condition to the model if it fails. */
type Gate = { reader: MomentReader; failed(hasFailed: boolean): void };

/**
 * Puts a detector of objects before a model: if a condition names one and the detector sees no trace of it, the answer is no, without a call. Else the
 * model is asked, also if the detector fails. Explanations say which of them judged.
 */
export function createGatedVision({ vision, report = () => undefined, ...detection }: GateDeps): VisionModel {
  let isBroken = false;
  const gate: Gate = {
    reader: createMomentReader(detection),
    failed(hasFailed) {
      if (hasFailed !== isBroken)
        report(
          hasFailed
            ? `the object detector fails: each check asks ${vision.model}`
            : 'the object detector works again',
        );
      isBroken = hasFailed;
    },
  };
  const judgeConditions = vision.judgeConditions?.bind(vision);
  const judgeMoments = vision.judgeMoments?.bind(vision);
  const deny = async (media: CheckMedia, questions: readonly ConditionQuestion[], signal: AbortSignal) => {
    const denied: Entry[] = [];
    for (const { condition_id, condition } of questions) {
      const explanation = await explainAbsence(media, condition, gate, signal);
      if (explanation !== undefined) denied.push({ condition_id, triggered: false, explanation });
    }
    return denied;
  };
  return {
    ...vision,
    provider: `objects+${vision.provider}`,
    model: `objects+${vision.model}`,

    async judge(media, condition, signal): Promise<Verdict & Called> {
      const explanation = await explainAbsence(media, condition, gate, signal);
      if (explanation !== undefined) return { triggered: false, explanation, tokens, calls: [] };
      return signed(await vision.judge(media, condition, signal), vision);
    },

    ...(judgeConditions && {
      judgeConditions: async (media, questions, signal) => {
        const denied = await deny(media, questions, signal);
        const open = questions.filter((question) => !isDenied(question, denied));
        if (open.length === 0) return { verdicts: denied, tokens, calls: [] };
        const answer = await judgeConditions(media, open, signal);
        return { ...answer, verdicts: [...denied, ...answer.verdicts.map((entry) => signed(entry, vision))] };
      },
    }),

    ...(judgeMoments && {
      judgeMoments: async (frames, questions, options, signal) => {
        const denied: Entry[][] = [];
        for (const { frame } of frames)
          denied.push(await deny({ mode: 'frames', frame, ...options }, questions, signal));
        const open = questions.filter((question) => !denied.every((entries) => isDenied(question, entries)));
        if (open.length === 0) return { moments: denied, tokens, calls: [] };
        const answer = await judgeMoments(frames, open, options, signal);
        const moments = denied.map((entries, at) => [
          ...entries,
          ...(answer.moments[at] ?? [])
            .filter(({ condition_id }) => !isDenied({ condition_id }, entries))
            .map((entry) => signed(entry, vision)),
        ]);
        return { ...answer, moments };
      },
    }),

    async answer(frame, question, signal) {
      const explanation = isOpen(question)
        ? undefined
        : await explainAbsence({ mode: 'frames', frame }, question, gate, signal);
      return explanation === undefined
        ? vision.answer(frame, question, signal)
        : { answer: `No. ${explanation}`, triggered: false, tokens, calls: [] };
    },
  };
}

/** Says that no frame of a capture shows a trace of what a condition requires; undefined if one does, or if the network need not be asked. */
async function explainAbsence(
  media: CheckMedia,
  condition: string,
  { reader, failed }: Gate,
  signal: AbortSignal,
): Promise<string | undefined> {
  if (findMissing(condition) === undefined) return undefined;
  try {
    const { count, read } = await reader.readMedia(media, signal);
    let missing = findMissing(condition, await read(0));
    for (let at = 1; missing !== undefined && at < (await count()); at += 1)
      missing = findMissing(condition, await read(at));
    failed(false);
    return (
      missing &&
      `No trace of ${missing.slice(0, 5).join(', ')}. Judged by the built-in object detector, without a call.`
    );
  } catch (error) {
    if (signal.aborted || !(error instanceof VisionError)) throw error;
    failed(true);
    return undefined;
  }
}

function isDenied(
  { condition_id: id }: Pick<ConditionQuestion, 'condition_id'>,
  denied: readonly Entry[],
): boolean {
  return denied.some(({ condition_id: other }) => other === id);
}

/** Adds the name of the model to an explanation. */
function signed<Answer extends { explanation: string }>(answer: Answer, { model }: VisionModel): Answer {
  const name = ` Judged by ${model.slice(0, 100)}.`;
  return {
    ...answer,
    explanation: `${answer.explanation.slice(0, maxExplanationCharacters - name.length)}${name}`,
  };
}
