import { selectEvenly } from '../../../core/policies/digest/summarize-windows.ts';
import { readJpegHeader } from '../../../core/stream/jpeg.ts';
import { ModelBusyError, VisionError } from '../../../core/errors.ts';
import { shareCall, type SharedCall } from '../../../core/share-call.ts';
import type { CheckMedia, VisionModel } from '../../../core/ports/vision-model.ts';
import type { Region } from '../../../core/records/capture.ts';
import { isWatched } from '../../../core/records/region.ts';
import type { ConditionVerdicts, EvidenceBox, Verdict } from '../../../core/records/vision.ts';
import { describeFrame } from '../pixel/explain.ts';
import type { PictureDecoder } from '../pixel/image-decoder.ts';
import { canHold, listParts } from '../pixel/logic.ts';
import { disclosure as pixelDisclosure } from '../pixel/explain.ts';
import { createPixelVision, decoded, decodedFrame, isOpen, readMoments } from '../pixel/pixel-vision.ts';
import { parseCondition } from '../pixel/parse-condition.ts';
import { DetectorBusyError, DetectorError, type ObjectDetector, type PictureSize } from './detector.ts';
import {
  describeColors,
  describeObjects,
  disclosure,
  explainCondition,
  explainNotUnderstood,
  formatNotJudged,
} from './explain-objects.ts';
import type { ObjectCondition, ObjectsAtom, Reading } from './grammar/condition.ts';
import { foreignLanguage } from './grammar/languages.ts';
import { readNouns, readSentence } from './grammar/read-sentence.ts';
import {
  decideOverMoments,
  findObjects,
  isDoubtOnly,
  type Moments,
  type ObjectMoment,
} from './judge-objects.ts';
import { summarizeObjects } from './summarize-objects.ts';

const clipFramesPerSecond = 2;
/** Decoded frames per detected one. At two frames per second, ffmpeg returns none of a clip below half a second. */
const picturesPerMoment = 2;
/** Decoded frames of a clip per second. */
export const decodedFramesPerSecond = clipFramesPerSecond * picturesPerMoment;
const maxBoxes = 20;
/** Maximum samples of a window that the network sees: 7 s on one core, within the time of a summary. */
const maxDetectedSamples = 60;
const tokens = { input_tokens: 0, output_tokens: 0 };

const conditionExamples = [
  'A person is at the door',
  'A red stop sign is in the yard',
  'The picture is dark',
];

/** Decoded frame of a capture, and its moments by index, the frame first. */
type Capture = {
  frame: Uint8Array;
  size: PictureSize;
  still: Uint8Array;
  moments: Map<number, ObjectMoment>;
};

function failMissingMoment(): never {
  throw new VisionError('The capture has no such moment. Try again.');
}

function isTimeout(error: unknown): boolean {
  return error instanceof DOMException && error.name === 'TimeoutError';
}

export type ObjectsVisionDeps = { decoder: PictureDecoder; detector: ObjectDetector };

/**
 * Creates the model that detects everyday objects. Conditions that name none are those of the pixel model, with the same
 * verdicts. Its calls throw `VisionError`, `answer` also `UnreadableFrameError`.
 */
export function createObjectsVision({ decoder, detector }: ObjectsVisionDeps): VisionModel {
  const pixel = createPixelVision({ decoder });

  async function detect(rgb: Uint8Array, size: PictureSize, signal: AbortSignal) {
    try {
      return await detector.detect({ ...size, rgb }, signal);
    } catch (cause) {
      // The call has waited for its turn until the limit of its time.
      if (cause instanceof DetectorBusyError || isTimeout(cause)) throw new ModelBusyError({ cause });
      if (signal.aborted) throw new VisionError('The frame was not judged in time. Try again.', { cause });
      if (!(cause instanceof DetectorError)) throw cause;
      throw new VisionError(`${cause.message}.`, { cause });
    }
  }

  async function toMoment(
    rgb: Uint8Array,
    size: PictureSize,
    atSeconds: number | null,
    signal: AbortSignal,
    regions?: readonly Region[] | null,
  ): Promise<ObjectMoment> {
    const found = await detect(rgb, size, signal);
    // An object belongs to where it stands: the middle of the lower edge of its box.
    const detections = regions
      ? found.filter(({ box }) =>
          isWatched(regions, box.x + box.width / 2, Math.min(box.y + box.height, 0.999)),
        )
      : found;
    return { atSeconds, picture: { ...size, rgb }, detections, measured: null };
  }

  function inputSize(frame: Uint8Array): PictureSize {
    return detector.inputSize(readJpegHeader(frame) ?? { width: 16, height: 9 });
  }

  /**
   * Frames of the newest captures, and the frames of their clips. Further conditions and jobs on a capture cost neither another decoding nor another
   * detection. The key is the clip, if there is one: media stores drop it after its checks, and the pictures with it.
   */
  const captures = new WeakMap<Uint8Array, Capture>();
  const clips = new WeakMap<Uint8Array, SharedCall<Uint8Array[]>>();

  async function decodeCapture(
    frame: Uint8Array,
    clip: Uint8Array | undefined,
    signal: AbortSignal,
  ): Promise<Capture> {
    const key = clip ?? frame;
    const known = captures.get(key);
    if (known?.frame === frame) return known;
    const size = inputSize(frame);
    const still = await decoded(signal, () => decoder.decode(frame, size, signal));
    const capture = { frame, size, still, moments: new Map<number, ObjectMoment>() };
    captures.set(key, capture);
    return capture;
  }

  function decodeClip(clip: Uint8Array, size: PictureSize): SharedCall<Uint8Array[]> {
    const known = clips.get(clip);
    if (known !== undefined) return known;
    const forget = () => void clips.delete(clip);
    const call = shareCall(async (signal) => {
      const pictures = await decoder.decodeClip(clip, size, clipFramesPerSecond * picturesPerMoment, signal);
      // Copies: pictures of one decoding may share a buffer, and a message to the detector copies the whole of it.
      return pictures.filter((_, at) => at % picturesPerMoment === 0).map((rgb) => rgb.slice());
    }, forget);
    call.result.catch(forget);
    clips.set(clip, call);
    return call;
  }

  /**
   * Returns the frame, and in modes clip and hybrid two frames per second of the clip. The evidence is the frame, so it is always included. The network
   * evaluates the frame while the clip is decoded.
   */
  async function readObjectMoments(media: CheckMedia, signal: AbortSignal): Promise<Moments> {
    const clip = media.mode === 'frames' ? undefined : media.clip;
    const decoding = clip && decodeClip(clip, inputSize(media.frame)).join(signal);
    // It fails where it is awaited: a broken frame may end the check before.
    decoding?.catch(() => undefined);
    const { size, still, moments } = await decodeCapture(media.frame, clip, signal);
    const moving = async () => (decoding ? decoded(signal, async () => decoding) : []);
    return {
      count: async () => 1 + (await moving()).length,
      read: async (index) => {
        const known = moments.get(index);
        const rgb = index === 0 ? still : (await moving())[index - 1];
        if (known !== undefined || rgb === undefined) return known ?? failMissingMoment();
        const atSeconds = index === 0 ? null : (index - 1) / clipFramesPerSecond;
        const moment = await toMoment(rgb, size, atSeconds, signal, media.regions);
        moments.set(index, moment);
        return moment;
      },
    };
  }

  /** Adds the measurements of the pixel model to each frame, from the nearest of its own, if the condition needs them. */
  async function withMeasurements(
    { count, read }: Moments,
    condition: ObjectCondition,
    media: CheckMedia,
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

  async function judge(media: CheckMedia, text: string, signal: AbortSignal): Promise<Verdict> {
    const reading = readSentence(text);
    if (reading === null && parseCondition(text).condition !== null) return pixel.judge(media, text, signal);
    const seen = await readObjectMoments(media, signal);
    if (reading === null || reading.condition === null) {
      const explanation = explainNotUnderstood(foreignLanguage(text), await seen.read(0));
      return { triggered: false, judged: false, explanation, tokens };
    }
    const { condition, notJudged } = reading;
    const moments = await withMeasurements(seen, condition, media, signal);
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

  return {
    provider: 'objects',
    model: 'objects',
    supportsVideo: true,
    conditionExamples,
    reasonNotToJudge,
    unjudgedParts: (text) => readParts(text).notJudged,

    async prepare(signal) {
      const size = detector.inputSize({ width: 16, height: 9 });
      await detect(new Uint8Array(size.width * size.height * 3), size, signal);
    },

    judge,

    async judgeConditions(media, questions, signal) {
      const verdicts: ConditionVerdicts['verdicts'] = [];
      // One after the other: the first decodes and detects, the others find its results.
      for (const { condition_id, condition } of questions) {
        const { tokens: _, judged, triggered, ...rest } = await judge(media, condition, signal);
        verdicts.push({ condition_id, triggered: judged === false ? null : triggered, ...rest });
      }
      return { verdicts, tokens };
    },

    async answer(frame, question, signal) {
      const nouns = readNouns(question);
      if (isOpen(question)) {
        if (asksForMeasurement(question) && nouns.length === 0) return pixel.answer(frame, question, signal);
        const size = inputSize(frame);
        const rgb = await decodedFrame(frame, decoder, signal, size);
        const moment = await toMoment(rgb, size, null, signal);
        return { answer: await answerOpen(question, nouns, moment, frame, signal), triggered: null, tokens };
      }
      const reading = readSentence(question);
      if (reading === null && parseCondition(question).condition !== null)
        return pixel.answer(frame, question, signal);
      const size = inputSize(frame);
      const rgb = await decodedFrame(frame, decoder, signal, size);
      const seen = await toMoment(rgb, size, null, signal);
      if (reading === null || reading.condition === null)
        return {
          answer: explainNotUnderstood(foreignLanguage(question), seen),
          triggered: null,
          judged: false,
          tokens,
        };
      const { condition, notJudged } = reading;
      const moments = { count: async () => 1, read: async () => seen };
      const { holds, moment } = await decideOverMoments(
        condition,
        await withMeasurements(moments, condition, { mode: 'frames', frame }, signal),
      );
      const explanation = explainCondition(condition, moment, notJudged);
      const word = holds === null ? 'Not sure' : holds ? 'Yes' : 'No';
      return {
        answer: `${word}. ${explanation}`,
        triggered: holds,
        tokens,
        ...(holds === null && { judged: false }),
      };
    },

    async summarize(samples, signal) {
      const measured = await pixel.summarize(samples, signal);
      const chosen = selectEvenly(samples, maxDetectedSamples);
      const [first] = chosen;
      if (first === undefined) return measured;
      const size = inputSize(first.frame);
      const pictures = await decoded(signal, () =>
        decoder.decodeEach(
          chosen.map(({ frame }) => frame),
          size,
          signal,
        ),
      );
      const detected = [];
      for (const [at, rgb] of pictures.entries()) {
        const sample = chosen[at];
        if (rgb && sample)
          detected.push({ detections: await detect(rgb, size, signal), capturedAt: sample.capturedAt });
      }
      const summary = measured.summary.replace(pixelDisclosure, disclosure);
      return { summary: `${summarizeObjects(detected)} ${summary}`, tokens };
    },
  };

  async function answerOpen(
    question: string,
    nouns: ObjectsAtom[],
    moment: ObjectMoment,
    frame: Uint8Array,
    signal: AbortSignal,
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
    const measured = await decoded(signal, () => readMoments({ mode: 'frames', frame }, decoder, signal));
    const unknown = /\bhow many\b|\bcount\b/i.test(question)
      ? formatNotJudged([{ words: question.trim(), kind: 'words' }])
      : [];
    return [describeObjects(moment), ...unknown, describeFrame(measured[0].picture), disclosure].join(' ');
  }
}

/** Reads what "how many white cars are there?" counts, or null. */
function countedObjects(question: string): (Reading & { condition: ObjectCondition }) | null {
  const counted = /\b(?:how many|count(?: all)?(?: the)?|(?:number|count) of)\s(.*[^?.!\s])/i
    .exec(question)?.[1]
    ?.trim();
  const reading =
    counted === undefined ? null : readSentence(counted.replace(/^of (?:the|these|those) /i, ''));
  return reading?.condition ? { condition: reading.condition, notJudged: reading.notJudged } : null;
}

/** Returns true for questions that the pixel model answers: "how dark is it?", "what color is the screen?". */
function asksForMeasurement(question: string): boolean {
  return /\b(?:colou?rs?|dark|bright|brightness|contrast)\b/i.test(question);
}

function needsMeasurements(condition: ObjectCondition): boolean {
  return listParts(condition).some(({ kind }) => kind !== 'objects' && kind !== 'unmeasurable');
}

/** Returns the boxes of the objects that a condition names, best first, in shares of the frame. */
function evidenceBoxes(condition: ObjectCondition, frame: ObjectMoment): EvidenceBox[] {
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
  const reading = readParts(text);
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

function readParts(text: string): Reading {
  const reading = readSentence(text);
  if (reading !== null) return reading;
  const { condition, ignored } = parseCondition(text);
  return { condition, notJudged: ignored };
}
