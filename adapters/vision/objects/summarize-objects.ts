import type { ObjectClass } from './classes.ts';
import { toPlural } from '../condition/nouns.ts';
import { thresholds } from './judge-objects.ts';
import type { Detection } from './detector.ts';

/** Sample of a window with its objects. */
export type DetectedSample = { detections: Detection[]; capturedAt: Date };

/** Minimum best score of a class in a window. Weaker ones come and go with the noise of a camera. */
const minBestScore = 0.4;
const maxClasses = 8;
const maxChanges = 8;

/**
 * Summarizes which objects came and went: by class, how many at most, in which samples, and each change with its time.
 */
export function summarizeObjects(samples: DetectedSample[]): string {
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
