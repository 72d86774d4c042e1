import { selectEvenly } from '../../../core/policies/digest/summarize-windows.ts';
import type { CheckMedia, VisionModel } from '../../../core/ports/vision-model.ts';
import type { ConditionVerdicts, EvidenceBox, Verdict } from '../../../core/records/vision.ts';
import { describeFrame } from '../pixel/explain.ts';
import type { PictureDecoder } from '../pixel/image-decoder.ts';
import { canHold, listParts } from '../condition/logic.ts';
import { disclosure as pixelDisclosure } from '../pixel/explain.ts';
import { createPixelVision, decoded, isOpen, readMoments } from '../pixel/pixel-vision.ts';
import { parseCondition, readNouns } from '../condition/parse-condition.ts';
import {
  describeColors,
  describeObjects,
  disclosure,
  explainCondition,
  explainNotUnderstood,
  formatNotJudged,
} from './explain-objects.ts';
import type { Condition, ObjectsAtom, Reading } from '../condition/condition.ts';
import { foreignLanguage } from '../condition/languages.ts';
import { decideSurely } from './decide-surely.ts';
import {
  decideOverMoments,
  findObjects,
  isDoubtOnly,
  type Moments,
  type ObjectMoment,
  requiresAbsence,
} from './judge-objects.ts';
import { createMomentReader, detect, inputSize } from './object-moments.ts';
import type { MomentReader, ObjectsVisionDeps } from './object-moments.ts';
import { summarizeObjects } from './summarize-objects.ts';

const maxBoxes = 20;
/** Maximum samples of a window that the network sees: 7 s on one core, within the time of a summary. */
const maxDetectedSamples = 60;
const tokens = { input_tokens: 0, output_tokens: 0 };

const conditionExamples = [
  'A person is at the door',
  'A red stop sign is in the yard',
  'The picture is dark',
];

type Deps = ObjectsVisionDeps & { reader: MomentReader; pixel: VisionModel };

/** Object model that says which of its answers are sure (`decide-surely.ts`), so that another model is asked for the rest. */
export type ObjectsVision = VisionModel & {
  isSure(media: CheckMedia, condition: string, holds: boolean, signal: AbortSignal): Promise<boolean>;
};

/**
 * Creates the model that detects everyday objects. Conditions that name none are those of the pixel model, with the same
 * verdicts. Its calls throw `VisionError`, `answer` also `UnreadableFrameError`.
 */
export function createObjectsVision(given: ObjectsVisionDeps): ObjectsVision {
  const { decoder, detector } = given;
  const deps = { ...given, reader: createMomentReader(given), pixel: createPixelVision({ decoder }) };
  return {
    provider: 'objects',
    model: 'objects',
    supportsVideo: true,
    hasSensitivity: true,
    conditionExamples,
    reasonNotToJudge,
    unjudgedParts: (text) => parseCondition(text).notJudged,

    async prepare(signal) {
      const size = detector.inputSize({ width: 16, height: 9 });
      await detect({ ...size, rgb: new Uint8Array(size.width * size.height * 3) }, detector, signal);
    },

    judge: async (media, condition, signal) => judge(media, condition, deps, signal),

    async judgeConditions(media, questions, signal) {
      const verdicts: ConditionVerdicts['verdicts'] = [];
      // One after the other: the first decodes and detects, the others find its results.
      for (const { condition_id, condition, sensitivity = 'normal' } of questions) {
        const {
          tokens: _,
          judged,
          triggered,
          ...rest
        } = await judge({ ...media, sensitivity }, condition, deps, signal);
        verdicts.push({ condition_id, triggered: judged === false ? null : triggered, ...rest });
      }
      return { verdicts, tokens };
    },

    answer: async (frame, question, signal) =>
      isOpen(question)
        ? answerOpen(frame, question, deps, signal)
        : answerWhether(frame, question, deps, signal),

    summarize: async (samples, signal) => summarize(samples, deps, signal),

    isSure: async (media, condition, holds, signal) =>
      (await decideSurelyOn(media, condition, deps, signal)) === holds,
  };
}

/** Decides a condition on all frames of a capture if the model is sure of it. Frames that were judged are not detected again. */
async function decideSurelyOn(
  media: CheckMedia,
  text: string,
  { reader, decoder }: Deps,
  signal: AbortSignal,
): Promise<boolean | null> {
  const reading = parseCondition(text);
  const { condition } = reading;
  if (condition === null) return null;
  const seen = await reader.readMedia(media, signal);
  const { count, read } = await withMeasurements(seen, condition, media, decoder, signal);
  const decided: (boolean | null)[] = [];
  for (let at = 0; at < (await count()); at += 1) decided.push(decideSurely(text, reading, await read(at)));
  if (decided.every((one) => one === false)) return false;
  const holding = decided.filter(Boolean).length;
  return holding >= (requiresAbsence(condition) ? decided.length : Math.min(2, decided.length)) ? true : null;
}

async function judge(
  media: CheckMedia,
  text: string,
  { reader, pixel, decoder }: Deps,
  signal: AbortSignal,
): Promise<Verdict> {
  const { condition, notJudged, namesObjects } = parseCondition(text);
  if (condition !== null && !namesObjects) return pixel.judge(media, text, signal);
  const seen = withSensitivity(await reader.readMedia(media, signal), media);
  if (condition === null) {
    const explanation = explainNotUnderstood(foreignLanguage(text), await seen.read(0));
    return { triggered: false, judged: false, explanation, tokens };
  }
  const moments = await withMeasurements(seen, condition, media, decoder, signal);
  const { holds, moment } = await decideOverMoments(condition, moments);
  const shown = holds === true ? moment : await seen.read(0);
  const boxes = evidenceBoxes(condition, shown);
  return {
    triggered: holds === true,
    explanation: explainCondition(condition, moment, notJudged),
    tokens,
    ...(holds === null && !isDoubtOnly(condition, moment) && { judged: false }),
    ...(boxes.length === 0 ? {} : { boxes }),
    ...(shown.atSeconds === null ? {} : { shown_at_seconds: shown.atSeconds }),
  };
}

/** Lets objects that may be there count in each frame of a sensitive condition. */
function withSensitivity({ count, read }: Moments, { sensitivity }: CheckMedia): Moments {
  if (sensitivity !== 'high') return { count, read };
  return { count, read: async (index) => ({ ...(await read(index)), isSensitive: true }) };
}

/** Adds the measurements of the pixel model to each frame, from the nearest of its own, if the condition needs them. */
async function withMeasurements(
  { count, read }: Moments,
  condition: Condition,
  media: CheckMedia,
  decoder: PictureDecoder,
  signal: AbortSignal,
): Promise<Moments> {
  if (!needsMeasurements(condition)) return { count, read };
  const measured = await decoded(signal, () => readMoments(media, decoder, signal));
  return {
    count,
    read: async (index) => {
      const moment = await read(index);
      const nearest = measured.find(({ atSeconds }) => atSeconds === moment.atSeconds) ?? measured.at(-1);
      return { ...moment, measured: nearest ?? measured[0] };
    },
  };
}

type Answer = Awaited<ReturnType<VisionModel['answer']>>;

/** Answers a question that is a condition: "is a person there?". */
async function answerWhether(
  frame: Uint8Array,
  question: string,
  { reader, pixel, decoder }: Deps,
  signal: AbortSignal,
): Promise<Answer> {
  const { condition, notJudged, namesObjects } = parseCondition(question);
  if (condition !== null && !namesObjects) return pixel.answer(frame, question, signal);
  const seen = await reader.readFrame(frame, signal);
  if (condition === null) {
    const answer = explainNotUnderstood(foreignLanguage(question), seen);
    return { answer, triggered: null, judged: false, tokens };
  }
  const moments = { count: async () => 1, read: async () => seen };
  const { holds, moment } = await decideOverMoments(
    condition,
    await withMeasurements(moments, condition, { mode: 'frames', frame }, decoder, signal),
  );
  const explanation = explainCondition(condition, moment, notJudged);
  const word = holds === null ? 'Not sure' : holds ? 'Yes' : 'No';
  return {
    answer: `${word}. ${explanation}`,
    triggered: holds,
    tokens,
    ...(holds === null && { judged: false }),
  };
}

/** Answers an open question: "how many cars are there?". */
async function answerOpen(
  frame: Uint8Array,
  question: string,
  { reader, pixel, decoder }: Deps,
  signal: AbortSignal,
): Promise<Answer> {
  const nouns = readNouns(question);
  if (asksForMeasurement(question) && nouns.length === 0) return pixel.answer(frame, question, signal);
  const moment = await reader.readFrame(frame, signal);
  const measure = async () =>
    (await decoded(signal, () => readMoments({ mode: 'frames', frame }, decoder, signal)))[0].picture;
  return { answer: await describeAnswer(question, nouns, moment, measure), triggered: null, tokens };
}

async function describeAnswer(
  question: string,
  nouns: ObjectsAtom[],
  moment: ObjectMoment,
  measure: () => Promise<Parameters<typeof describeFrame>[0]>,
): Promise<string> {
  const counted = countedObjects(question);
  if (counted !== null)
    return listParts(counted.condition).some(({ kind }) => kind !== 'objects')
      ? explainNotUnderstood(null, moment)
      : explainCondition(counted.condition, moment, counted.notJudged);
  if (nouns.length > 0) {
    const asksColor = /\bcolou?rs?\b/i.test(question);
    const described = nouns.map((atom) =>
      asksColor ? describeColors(atom, moment) : explainCondition(atom, moment, []),
    );
    const unanswered = asksColor ? [] : formatNotJudged([{ words: question.trim(), kind: 'words' }]);
    const sentences = described.map((sentence) => sentence.replace(` ${disclosure}`, ''));
    return [...sentences, ...unanswered, disclosure].join(' ');
  }
  const unknown = /\bhow many\b|\bcount\b/i.test(question)
    ? formatNotJudged([{ words: question.trim(), kind: 'words' }])
    : [];
  return [describeObjects(moment), ...unknown, describeFrame(await measure()), disclosure].join(' ');
}

/** Describes a window by its objects, and by the measurements of the pixel model. */
async function summarize(
  samples: Parameters<VisionModel['summarize']>[0],
  { decoder, detector, pixel }: Deps,
  signal: AbortSignal,
) {
  const measured = await pixel.summarize(samples, signal);
  const chosen = selectEvenly(samples, maxDetectedSamples);
  const [first] = chosen;
  if (first === undefined) return measured;
  const size = inputSize(first.frame, detector);
  const frames = chosen.map(({ frame }) => frame);
  const pictures = await decoded(signal, () => decoder.decodeEach(frames, size, signal));
  const detected = [];
  for (const [at, rgb] of pictures.entries()) {
    const sample = chosen[at];
    if (rgb && sample)
      detected.push({
        detections: await detect({ ...size, rgb }, detector, signal),
        capturedAt: sample.capturedAt,
      });
  }
  const summary = measured.summary.replace(pixelDisclosure, disclosure);
  return { summary: `${summarizeObjects(detected)} ${summary}`, tokens };
}

/** Reads what "how many white cars are there?" counts, or null. */
function countedObjects(question: string): (Reading & { condition: Condition }) | null {
  const counted = /\b(?:how many|count(?: all)?(?: the)?|(?:number|count) of)\s(.*[^?.!\s])/i
    .exec(question)?.[1]
    ?.trim();
  const reading = parseCondition((counted ?? '').replace(/^of (?:the|these|those) /i, ''));
  const { condition, notJudged, namesObjects } = reading;
  return condition !== null && namesObjects ? { condition, notJudged } : null;
}

/** Returns true for questions that the pixel model answers: "how dark is it?", "what color is the screen?". */
function asksForMeasurement(question: string): boolean {
  return /\b(?:colou?rs?|dark|bright|brightness|contrast)\b/i.test(question);
}

function needsMeasurements(condition: Condition): boolean {
  return listParts(condition).some(({ kind }) => kind !== 'objects' && kind !== 'unmeasurable');
}

/** Returns the boxes of the objects that a condition names, best first, in shares of the frame. */
function evidenceBoxes(condition: Condition, frame: ObjectMoment): EvidenceBox[] {
  const atoms = listParts(condition).flatMap((part) => (part.kind === 'objects' ? [part] : []));
  const found = new Set(atoms.flatMap((atom) => findObjects(atom, frame).seen));
  return [...found]
    .toSorted((a, b) => b.score - a.score)
    .slice(0, maxBoxes)
    .map(({ object, score, box }) => ({
      label: object,
      score: rounded(score),
      x: rounded(box.x),
      y: rounded(box.y),
      width: rounded(box.width),
      height: rounded(box.height),
    }));
}

function rounded(value: number): number {
  return Math.round(value * 1000) / 1000;
}

/** Returns why no capture can fulfil a condition: neither objects nor measurements are in it, or it also requires something else. */
function reasonNotToJudge(text: string): string | undefined {
  const reading = parseCondition(text);
  const language = foreignLanguage(text);
  if (reading.condition === null && language !== null)
    return `it understands English only, and the sentence seems to be in ${language}`;
  if (reading.condition === null)
    return 'it finds everyday objects, colors, brightness and motion, and the sentence names none that it knows';
  if (canHold(reading.condition, ({ kind }) => kind !== 'unmeasurable')) return undefined;
  const words = reading.notJudged.filter(({ kind }) => kind === 'words');
  const names = formatNotJudged(words).join(' ').replace(/\.$/, '').replace('Not judged: ', '');
  return `it finds everyday objects, colors, brightness and motion, not ${names === '' ? 'all that the sentence says' : names}`;
}
