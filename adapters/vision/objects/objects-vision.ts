import { UnreadableFrameError } from '../../../core/errors.ts';
import { VisionError } from '../../../core/vision-errors.ts';
import {
  alwaysLoaded,
  anyCondition,
  type CheckMedia,
  type ConditionReading,
  type VisionModel,
  type VisitQuestion,
} from '../../../core/ports/vision-model.ts';
import {
  type ConditionQuestion,
  type ConditionVerdict,
  type EvidenceBox,
  queryWordLimits,
  type Sensitivity,
} from '../../../core/records/vision.ts';
import { ImageDecodeError } from '../../media/ffmpeg/errors.ts';
import { type Condition, canHold, decide, listParts } from '../condition/condition.ts';
import { findNoun } from '../condition/nouns.ts';
import { parseCondition } from '../condition/parse-condition.ts';
import { readTokens } from '../condition/read-tokens.ts';
import { readColors, isFiller, movements, prepositions } from '../condition/vocabulary.ts';
import { holdsAtom } from '../pixel/evaluate.ts';
import type { PictureDecoder } from '../pixel/image-decoder.ts';
import type { PictureFacts } from '../pixel/measure-picture.ts';
import { readMoments } from '../pixel/read-moments.ts';
import { answerOpen, isOpen } from './answer-open.ts';
import { describeDetected, describeMeasured } from './describe-scene.ts';
import { explainCondition, explainMeasured, explainNotJudged, formatNotJudged } from './explain-objects.ts';
import {
  decideOverMoments,
  findObjects,
  isDoubtOnly,
  type Moments,
  namesObjects,
  type ObjectMoment,
} from './judge-objects.ts';
import { createMomentReader, type BuiltInDeps, type ObjectsVisionDeps } from './object-moments.ts';
import { installCommand } from './packages.ts';
import { summarizeWindow } from './summarize-window.ts';
import { negation } from '../../../core/memory/rank-moments.ts';

const maxBoxes = 20;
const tokens = { input_tokens: 0, output_tokens: 0 };

const conditionExamples = [
  'A person is in the picture',
  'A red stop sign is in the picture',
  'The picture is dark',
];
const measuredExamples = ['The picture is red', 'The picture is dark', 'Something moves'];

/**
 * Creates the built-in model. It detects everyday objects, and measures colors, brightness and motion. The network
 * runs, and is loaded, only where a condition names an object; without a detector, such a condition is not judged. Its
 * calls throw `VisionError`, `answer` also `UnreadableFrameError`.
 */
export function createObjectsVision({ decoder, detector }: ObjectsVisionDeps): VisionModel {
  const deps = { decoder, detector, reader: detector && createMomentReader({ decoder, detector }) };
  return {
    provider: 'objects',
    model: 'objects',
    capabilities: {
      ...anyCondition,
      supportsVideo: true,
      hasSensitivity: true,
      conditionExamples: detector ? conditionExamples : measuredExamples,
      readCondition: (text) => readCondition(text, detector !== null),
      visits: { readQuestion: readVisitQuestion, readThings },
    },
    lifecycle: alwaysLoaded,

    async judge(media, questions, signal) {
      const verdicts: ConditionVerdict[] = [];
      let facts: PictureFacts | undefined;
      // One after the other: the first decodes and detects, the others find its results.
      for (const { condition_id, ...question } of questions) {
        const { holds, isDoubt, measured, ...rest } = await decideText(media, question, deps, signal);
        facts ??= measured;
        const isUnsure = holds === null && isDoubt;
        const triggered = holds ?? (isDoubt ? false : null);
        verdicts.push({ condition_id, triggered, ...rest, ...(isUnsure && { unsure: true }) });
      }
      const detected = deps.reader?.readBefore(media);
      const scene = detected ? describeDetected(detected) : facts && describeMeasured(facts);
      return { moments: [verdicts], tokens, ...(media.describes && scene) };
    },

    words: async (query) => ({ words: listWords(query), tokens }),

    async matches(pictures, query, signal) {
      const { reasonNotToJudge, unjudgedParts } = readCondition(query, detector !== null);
      const matches: (boolean | null)[] = [];
      for (const frame of pictures)
        matches.push(reasonNotToJudge === null ? await matchPicture(frame, query, deps, signal) : null);
      const reason =
        reasonNotToJudge ??
        (formatNotJudged(unjudgedParts) && `it does not judge ${formatNotJudged(unjudgedParts)}`);
      return { matches, tokens, ...(reason !== '' && { not_judged: `The built-in model: ${reason}.` }) };
    },

    answer: async (frame, question, signal) => {
      const answer = isOpen(question)
        ? { answer: await readable(() => answerOpen(frame, question, deps, signal)), triggered: null }
        : await readable(() => answerWhether(frame, question, deps, signal));
      return { ...answer, tokens };
    },

    answerAbout: async () => ({ statements: [], tokens }),

    summarize: async (samples, signal) => ({ summary: await summarizeWindow(samples, deps, signal), tokens }),
  };
}

/**
 * Decision on a condition: `holds` is null if it is not judged, or if only low scores leave it undecided (`isDoubt`).
 */
type Decision = Pick<ConditionVerdict, 'explanation' | 'boxes' | 'shown_at_seconds'> & {
  holds: boolean | null;
  isDoubt: boolean;
  /** Measurements of the frame, if no condition needed its objects. */
  measured?: PictureFacts;
};

/** Returns the names of the classes and colors that a query means. */
function listWords(query: string): string[] {
  const words = readTokens(query);
  const names = [...words.flatMap((word) => findNoun(word)?.classes ?? []), ...words.flatMap(readColors)];
  return [...new Set(names)].slice(0, queryWordLimits.words);
}

/** Decides whether a picture shows what a query describes. A picture that cannot be decoded is not judged. */
async function matchPicture(
  frame: Uint8Array,
  query: string,
  deps: BuiltInDeps,
  signal: AbortSignal,
): Promise<boolean | null> {
  try {
    const { holds, isDoubt } = await decideText(
      { mode: 'frames', frame },
      { condition: query },
      deps,
      signal,
    );
    return holds ?? (isDoubt ? false : null);
  } catch (error) {
    if (error instanceof VisionError && error.cause instanceof ImageDecodeError) return null;
    throw error;
  }
}

async function decideText(
  media: CheckMedia,
  { condition: text, sensitivity }: Omit<ConditionQuestion, 'condition_id'>,
  { reader, decoder }: BuiltInDeps,
  signal: AbortSignal,
): Promise<Decision> {
  const { condition, notJudged } = parseCondition(text);
  if (condition === null || (reader === null && namesObjects(condition)))
    return { holds: null, isDoubt: false, explanation: explainNotJudged(condition, notJudged) };
  if (reader === null || !namesObjects(condition)) {
    const moments = await readMoments(media, decoder, signal);
    const holdsIn = (moment: (typeof moments)[number]) =>
      decide(condition, (part) => (part.kind === 'objects' ? null : holdsAtom(part, moment)));
    const moment = moments.find((one) => holdsIn(one) === true) ?? moments.at(-1) ?? moments[0];
    return {
      holds: holdsIn(moment),
      isDoubt: false,
      explanation: explainMeasured(condition, moment, notJudged),
      measured: moments[0].picture,
    };
  }
  const seen = withSensitivity(await reader.readMedia(media, signal), sensitivity);
  const moments = await withMeasurements(seen, condition, media, decoder, signal);
  const { holds, moment } = await decideOverMoments(condition, moments);
  const shown = holds === true ? moment : await seen.read(0);
  const boxes = evidenceBoxes(condition, shown);
  return {
    holds,
    isDoubt: isDoubtOnly(condition, moment),
    explanation: explainCondition(condition, moment, notJudged),
    ...(boxes.length === 0 ? {} : { boxes }),
    ...(shown.atSeconds === null ? {} : { shown_at_seconds: shown.atSeconds }),
  };
}

/** Answers a question that is a condition: "is a person there?". */
async function answerWhether(frame: Uint8Array, question: string, deps: BuiltInDeps, signal: AbortSignal) {
  const media = { mode: 'frames', frame } as const;
  const { holds, explanation } = await decideText(media, { condition: question }, deps, signal);
  const word = holds === null ? 'Not sure' : holds ? 'Yes' : 'No';
  return {
    answer: explanation.startsWith('Cannot') ? explanation : `${word}. ${explanation}`,
    triggered: holds,
    ...(holds === null && { judged: false }),
  };
}

/** A frame of the caller that cannot be decoded is an input error, not a model error. */
async function readable<Result>(work: () => Promise<Result>): Promise<Result> {
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof VisionError && error.cause instanceof ImageDecodeError)) throw error;
    throw new UnreadableFrameError('The JPEG is damaged or truncated. Send a complete JPEG.', {
      cause: error,
    });
  }
}

/** Lets objects that may be there count in each frame of a sensitive condition. */
function withSensitivity({ count, read }: Moments, sensitivity?: Sensitivity): Moments {
  if (sensitivity !== 'high') return { count, read };
  return { count, read: async (index) => ({ ...(await read(index)), isSensitive: true }) };
}

/** Adds measurements to each frame, from the nearest measured one, if the condition needs them. */
async function withMeasurements(
  { count, read }: Moments,
  condition: Condition,
  media: CheckMedia,
  decoder: PictureDecoder,
  signal: AbortSignal,
): Promise<Moments> {
  if (listParts(condition).every(({ kind }) => kind === 'objects' || kind === 'unmeasurable'))
    return { count, read };
  const measured = await readMoments(media, decoder, signal);
  return {
    count,
    read: async (index) => {
      const moment = await read(index);
      const nearest = measured.find(({ atSeconds }) => atSeconds === moment.atSeconds) ?? measured.at(-1);
      return { ...moment, measured: nearest ?? measured[0] };
    },
  };
}

/** Returns the boxes of the objects that a condition names, best first, in shares of the frame. */
function evidenceBoxes(condition: Condition, frame: ObjectMoment): EvidenceBox[] {
  const atoms = listParts(condition).flatMap((part) => (part.kind === 'objects' ? [part] : []));
  const seen = new Set(atoms.flatMap((atom) => findObjects(atom, frame).seen));
  return [...seen]
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

/**
 * Reads a condition. No capture can fulfil it if neither objects nor measurements are in it, or if it also requires
 * something else.
 */
function readCondition(text: string, hasDetector: boolean): ConditionReading {
  const { condition, notJudged: unjudgedParts } = parseCondition(text);
  const reading = (reasonNotToJudge: string | null) => ({ reasonNotToJudge, unjudgedParts });
  if (condition !== null && !hasDetector && namesObjects(condition))
    return reading(
      `it measures colors, brightness and motion, and the packages for objects are not installed (run ${installCommand})`,
    );
  if (condition !== null && canHold(condition)) return reading(null);
  const names = formatNotJudged(unjudgedParts.filter(({ kind }) => kind === 'words'));
  return reading(
    `it finds everyday objects, colors, brightness and motion, ${names === '' ? 'and the sentence names none that it knows' : `in short English sentences, not ${names}`}`,
  );
}

/**
 * Reads a question about visits: how often, what was seen, when last, or whether something was there. Returns `null`
 * for another one, also about when something was not there: visits do not answer that.
 */
function readVisitQuestion(question: string): VisitQuestion | null {
  const text = question.toLowerCase().replaceAll(denyingNothing, '').replaceAll('since when', 'when');
  const has = (pattern: RegExp) => pattern.test(text);
  if (negation.test(text) || has(/^\W*(?:who|why|where|which|whose)\b/)) return null;
  const [isToday, isYesterday] = [has(/\btoday\b/), has(/\byesterday\b/)];
  const day = isToday ? 'today' : isYesterday ? 'yesterday' : null;
  const unread = [...listUnread(text), ...(isToday && isYesterday ? ['yesterday'] : [])];
  const read = (asks: VisitQuestion['asks']): VisitQuestion => ({ asks, day, unread });
  if (has(/\bhow (?:many|often)\b|\bnumber of\b|\bcount\b/)) return read('count');
  if (has(whatQuestion)) return read('what');
  if (has(/\bwhen\b|\bthe last time\b/)) return read('last');
  if (has(/(?:^|:)[^\w:]*(?:was|were|did|does|has|have|had)\b/)) return read('whether');
  // Visits do not say that it is there now, but when it was there last.
  return has(/(?:^|:)[^\w:]*(?:is|are)\b/) ? read('last') : null;
}

/** Phrases that deny nothing: "yes or no", "or not". */
const denyingNothing = /\byes or no\b|\bor not\b/g;

/** A question about anything, not about a part or an act of a thing: "what did you see", but no "what color was". */
const whatQuestion =
  /^\W*what(?:'s|\s+(?:did|do|has|have|had|was|were|is|are|you|it|anybody|else|been|the|cameras?|watch))*\s+(?:happen(?:ed|ing)?|see|saw|seen|there|came|come|moved|going on|noticed?)\b/;

const askingWords = new Set(
  `how many often times time number of count what when happen happens happened happening saw you i we it last today
  yesterday and or , visit visits anything something moved going on noticed notice else camera cameras watch by past
  through passed walked drove ran ever yet total 's`.split(/\s+/),
);
/** Words of presence that say something else in a question. */
const otherWords = new Set(['will', 'can', 'who', 'which', 'stays', 'remains', 'waits']);

/** Lists the words of a question that visits do not answer: times, places, colors and acts, and other languages. */
function listUnread(text: string): string[] {
  const unread = readTokens(text).filter(
    (token) =>
      otherWords.has(token) ||
      !(askingWords.has(token) || isFiller(token) || movements.has(token) || findNoun(token)),
  );
  const words = unread.map((token) => token.replaceAll('_', ' ').replace('#', '').replace('-', ' ').trim());
  const others = words.filter((word) => !prepositions.has(word));
  return others.length > 0 ? others : words;
}

/** Returns the things that a text names, each by the names by which it is detected. */
function readThings(text: string): string[][] {
  const things = readTokens(text).flatMap((token) => {
    const { classes } = findNoun(token) ?? {};
    return classes ? [[...classes]] : [];
  });
  return [...new Map(things.map((names) => [names.join(), names])).values()];
}
