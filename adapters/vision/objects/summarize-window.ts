import { selectEvenly } from '../../../core/policies/digest/summarize-windows.ts';
import type { Sample } from '../../../core/ports/vision-model.ts';
import { disclosure } from '../../../core/disclosure.ts';
import { decoded, measuredSize } from '../pixel/read-moments.ts';
import { type BuiltInDeps, detect, inputSize } from './object-moments.ts';
import { differingShare } from '../pixel/measure-clip.ts';
import { measurePicture, type PictureFacts } from '../pixel/measure-picture.ts';
import { describeFrame, mainColors, percent } from '../pixel/explain.ts';
import type { PictureSize } from '../pixel/image-decoder.ts';
import type { ObjectClass } from './classes.ts';
import { toPlural } from '../condition/nouns.ts';
import { thresholds } from './judge-objects.ts';
import type { Detection } from './detector.ts';

/** Maximum samples of a window that the network sees: 7 s on one core, within the time of a summary. */
const maxDetectedSamples = 60;

/** Describes a window by its objects, and by what is measured in it. */
export async function summarizeWindow(
  samples: Sample[],
  deps: BuiltInDeps,
  signal: AbortSignal,
): Promise<string> {
  const measured = await summarizeMeasured(samples, deps, signal);
  const objects = await summarizeDetected(selectEvenly(samples, maxDetectedSamples), deps, signal);
  return [...objects, measured, disclosure].join(' ');
}

async function summarizeMeasured(samples: Sample[], { decoder }: BuiltInDeps, signal: AbortSignal) {
  const frames = samples.map(({ frame }) => frame);
  const pictures = await decoded(signal, () => decoder.decodeEach(frames, measuredSize, signal));
  const measured = pictures.flatMap((rgb, index) => {
    const sample = samples[index];
    return sample && rgb ? [{ rgb, capturedAt: sample.capturedAt }] : [];
  });
  const unread = samples.length - measured.length;
  const leftOut = unread === 0 ? '' : `${unread} of ${samples.length} samples could not be decoded. `;
  return leftOut + summarizeSamples(measured, measuredSize);
}

async function summarizeDetected(
  samples: Sample[],
  { decoder, detector }: BuiltInDeps,
  signal: AbortSignal,
): Promise<string[]> {
  const [first] = samples;
  if (first === undefined || detector === null) return [];
  const size = inputSize(first.frame, detector);
  const frames = samples.map(({ frame }) => frame);
  const pictures = await decoded(signal, () => decoder.decodeEach(frames, size, signal));
  const detected = [];
  for (const [index, rgb] of pictures.entries()) {
    const sample = samples[index];
    if (sample && rgb)
      detected.push({
        detections: await detect({ ...size, rgb }, detector, signal),
        capturedAt: sample.capturedAt,
      });
  }
  return [summarizeObjects(detected)];
}

type MeasuredSample = { rgb: Uint8Array; capturedAt: Date };

/** Minimum share of the frame that differs from the previous sample, for a change. */
const changedShare = 0.02;
const maxChangesInSummary = 8;

/** Summarizes the samples of a window: first frame, changes with their time, and range of brightness. */
function summarizeSamples(samples: MeasuredSample[], size: PictureSize): string {
  const [first] = samples;
  const last = samples.at(-1);
  if (first === undefined || last === undefined) return `This window has no samples.`;
  const facts = samples.map(({ rgb }) => measurePicture(rgb, size));
  const changes = changesIn(samples, facts);
  return [
    `${samples.length} ${samples.length === 1 ? 'sample' : 'samples'} from ${formatTime(first)} to ${formatTime(last)}.`,
    `At first: ${describeFrame(measurePicture(first.rgb, size))}`,
    ...changes.slice(0, maxChangesInSummary),
    ...(changes.length > maxChangesInSummary
      ? [`${changes.length - maxChangesInSummary} more changes followed.`]
      : []),
    ...(changes.length === 0 ? ['No change exceeded 2 % of the frame.'] : []),
    brightnessSpan(facts),
  ].join(' ');
}

function changesIn(samples: MeasuredSample[], facts: PictureFacts[]): string[] {
  return samples.flatMap((sample, index) => {
    const before = samples[index - 1];
    const now = facts[index];
    if (before === undefined || now === undefined) return [];
    const share = differingShare(before.rgb, sample.rgb);
    if (share < changedShare) return [];
    return [
      `At ${formatTime(sample)} ${percent(share)} of the frame had changed; it was ${mainColors(now.shares)}.`,
    ];
  });
}

function brightnessSpan(facts: PictureFacts[]): string {
  const levels = facts.map(({ brightness }) => brightness);
  return `Mean brightness was between ${percent(Math.min(...levels))} and ${percent(Math.max(...levels))}.`;
}

function formatTime({ capturedAt }: MeasuredSample): string {
  return `${capturedAt.toISOString().slice(11, 19)} UTC`;
}

/** Sample of a window with its objects. */
type DetectedSample = { detections: Detection[]; capturedAt: Date };

/** Minimum best score of a class in a window. Weaker ones come and go with the noise of a camera. */
const minBestScore = 0.4;
const maxClasses = 8;
const maxChanges = 8;

/**
 * Summarizes which objects came and went: by class, how many at most, in which samples, and each change with its time.
 */
function summarizeObjects(samples: DetectedSample[]): string {
  const best = bestScores(samples);
  const weak = [...best].flatMap(([object, score]) => (score < minBestScore ? [object] : []));
  const counts = samples.map(({ detections }) =>
    countByClass(detections.filter(({ object }) => !weak.includes(object))),
  );
  const classes = [...new Set(counts.flatMap((count) => [...count.keys()]))]
    .map((object) => ({ object, present: counts.filter((count) => count.has(object)).length }))
    .toSorted((a, b) => b.present - a.present)
    .map(({ object }) => object);
  const doubts = weak.length === 0 ? [] : [`Not sure: ${weak.slice(0, maxClasses).join(', ')}.`];
  if (classes.length === 0)
    return [doubts.length === 0 ? 'No object was seen.' : 'No object was seen for certain.', ...doubts].join(
      ' ',
    );
  const sentences = classes.slice(0, maxClasses).map((object) => describeClass(object, samples, counts));
  const changes = listChanges(samples, counts);
  return [
    ...sentences,
    ...(classes.length > maxClasses
      ? [`${classes.length - maxClasses} further kinds of objects were seen.`]
      : []),
    ...(changes.length === 0 ? ['No object came or went.'] : changes.slice(0, maxChanges)),
    ...(changes.length > maxChanges ? [`${changes.length - maxChanges} more changes followed.`] : []),
    ...doubts,
  ].join(' ');
}

function bestScores(samples: DetectedSample[]): Map<ObjectClass, number> {
  const best = new Map<ObjectClass, number>();
  for (const { object, score } of samples.flatMap(({ detections }) => detections)) {
    if (score >= thresholds.seen) best.set(object, Math.max(score, best.get(object) ?? 0));
  }
  return best;
}

type Counts = ReadonlyMap<ObjectClass, number>;

function countByClass(detections: Detection[]): Counts {
  const counts = new Map<ObjectClass, number>();
  for (const { object, score } of detections) {
    if (score >= thresholds.seen) counts.set(object, (counts.get(object) ?? 0) + 1);
  }
  return counts;
}

function describeClass(object: ObjectClass, samples: DetectedSample[], counts: Counts[]): string {
  const present = samples.filter((_, sample) => counts[sample]?.has(object) === true);
  const most = Math.max(...counts.map((count) => count.get(object) ?? 0));
  const [first] = present;
  const last = present.at(-1);
  const name = most === 1 ? `1 ${object}` : `up to ${most} ${toPlural(object)}`;
  const times = first === last ? `at ${time(first)}` : `from ${time(first)} to ${time(last)}`;
  return `Looks like ${name} in ${present.length} of ${samples.length} samples, ${times}.`;
}

function listChanges(samples: DetectedSample[], counts: Counts[]): string[] {
  return samples.slice(1).flatMap((sample, index) => {
    const [before, now] = [counts[index], counts[index + 1]];
    if (before === undefined || now === undefined) return [];
    const came = [...now.keys()].filter((object) => !before.has(object));
    const went = [...before.keys()].filter((object) => !now.has(object));
    const parts = [
      ...(came.length === 0 ? [] : [`${came.join(', ')} came`]),
      ...(went.length === 0 ? [] : [`${went.join(', ')} went`]),
    ];
    return parts.length === 0 ? [] : [`At ${time(sample)}: ${parts.join('; ')}.`];
  });
}

function time(sample: DetectedSample | undefined): string {
  return `${sample?.capturedAt.toISOString().slice(11, 19) ?? ''} UTC`;
}
