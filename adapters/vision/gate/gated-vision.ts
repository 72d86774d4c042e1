import { VisionError } from '../../../core/vision-errors.ts';
import type { CheckMedia, VisionModel } from '../../../core/ports/vision-model.ts';
import type { ConditionQuestion, ConditionVerdict } from '../../../core/records/vision.ts';
import { isOpen } from '../objects/answer-open.ts';
import type { ObjectDetector } from '../objects/detector.ts';
import { describeDetected } from '../objects/describe-scene.ts';
import { createMomentReader, type MomentReader } from '../objects/object-moments.ts';
import type { PictureDecoder } from '../pixel/image-decoder.ts';
import { decide, type ObjectsAtom } from '../condition/condition.ts';
import { parseCondition } from '../condition/parse-condition.ts';
import type { ObjectClass } from '../objects/classes.ts';
import type { ObjectMoment } from '../objects/judge-objects.ts';
import { measurePicture } from '../pixel/measure-picture.ts';

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
 * Puts a detector of objects before a model: if a condition names one and the detector sees no trace of it, the answer
 * is no, without a call. Else the model is asked, also if the detector fails. Explanations say which of them judged.
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
  const deny = async (media: CheckMedia, questions: readonly ConditionQuestion[], signal: AbortSignal) => {
    const denied: ConditionVerdict[] = [];
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

    async judge(media, questions, signal) {
      const denied: ConditionVerdict[][] = [];
      for (const frame of listFrames(media)) denied.push(await deny(frame, questions, signal));
      const open = questions.filter((question) => !denied.every((entries) => isDenied(question, entries)));
      const before = media.describes ? gate.reader.readBefore(listFrames(media).at(-1) ?? media) : undefined;
      const scene = before && describeDetected(before);
      if (open.length === 0) return { moments: denied, tokens, calls: [], ...scene };
      const answer = await vision.judge(media, open, signal);
      const moments = denied.map((entries, index) => [
        ...entries,
        ...(answer.moments[index] ?? [])
          .filter((entry) => !isDenied(entry, entries))
          .map((entry) => signed(entry, vision)),
      ]);
      return { ...scene, ...answer, moments };
    },

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

/** Lists the frames that are judged, oldest first, the newest one with its clip. */
function listFrames({ earlier = [], ...newest }: CheckMedia): CheckMedia[] {
  const { regions } = newest;
  return [...earlier.map(({ frame }) => ({ mode: 'frames' as const, frame, regions })), newest];
}

/**
 * Says that no frame of a capture shows a trace of what a condition requires; undefined if one does, or if the network
 * need not be asked.
 */
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
    for (let frame = 1; missing !== undefined && frame < (await count()); frame += 1)
      missing = findMissing(condition, await read(frame));
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
  denied: readonly ConditionVerdict[],
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

/** Minimum mean luma, and minimum contrast, of a picture in which the network overlooks nothing. */
const clear = { brightness: 0.2, contrast: 0.05 };

/** Classes whose absence the network shows: large things with many examples. It overlooks small and thin ones. */
const findable: ReadonlySet<ObjectClass> = new Set<ObjectClass>([
  'person',
  'car',
  'bus',
  'train',
  'truck',
  'airplane',
  'motorcycle',
  'cat',
  'dog',
  'horse',
  'sheep',
  'cow',
  'elephant',
  'bear',
  'zebra',
  'giraffe',
]);

/** Classes that the network takes for each other. */
const alike: readonly (readonly ObjectClass[])[] = [
  ['car', 'truck', 'bus', 'train'],
  ['bicycle', 'motorcycle'],
  ['cat', 'dog', 'bear', 'teddy bear'],
  ['horse', 'cow', 'sheep', 'zebra', 'giraffe', 'elephant', 'bear', 'dog'],
];

/**
 * Returns the classes without which a condition does not hold, if a picture shows no trace of them: what is asked is
 * false then. Returns undefined if a picture may fulfil it. Without a picture, all that the network does not overlook
 * is missing.
 */
export function findMissing(text: string, moment?: ObjectMoment): ObjectClass[] | undefined {
  const { condition } = parseCondition(text);
  const missing: ObjectClass[] = [];
  const isFalse =
    condition !== null &&
    decide(condition, (part) => {
      if (part.kind !== 'objects' || part.compare === 'at most') return null;
      if (!part.classes.every((name) => findable.has(name)) || (moment && hasTrace(part, moment)))
        return null;
      missing.push(...part.classes);
      return false;
    }) === false;
  return isFalse ? missing : undefined;
}

/**
 * Each detection is a trace, however weak: persons on the footage of the tests have at least 0.06, also small, dark and
 * blurred ones.
 */
function hasTrace(
  { classes }: ObjectsAtom,
  { picture, detections, all = detections }: ObjectMoment,
): boolean {
  const { brightness, contrast } = measurePicture(picture.rgb, picture);
  if (brightness < clear.brightness || contrast < clear.contrast) return true;
  return all.some(({ object }) =>
    classes.some(
      (name) => name === object || alike.some((group) => group.includes(name) && group.includes(object)),
    ),
  );
}
