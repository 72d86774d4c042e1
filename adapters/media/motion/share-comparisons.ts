import { LRUCache } from 'lru-cache';
import type { CompareMotion, MotionComparison } from '../../../core/records/motion.ts';
import type { Differences } from './changed-pixels.ts';
import { createMotionComparison, type ComparisonSteps } from './compare-motion.ts';
import { prepareThumbnail, type ThumbnailWork } from './prepare-thumbnail.ts';
import { decodeReference } from './state-codec.ts';
import { type MotionTuning, motionTuning } from './tuning.ts';

/** References and states kept for each thumbnail, about 30 kB each. Jobs that share all captures have the same. */
const maxKept = 8;
/** Decoded references kept, 30 kB each. */
const maxReferences = 16;

export type ShareComparisonsDeps = { tuning: MotionTuning; steps: ComparisonSteps };

type SharedThumbnail = { id: number; work: ThumbnailWork; results: LRUCache<string, MotionComparison> };

/**
 * Returns a comparison that jobs share whose captures share a thumbnail: what depends on the thumbnail is computed
 * once, the distances from a reference once per reference, and the whole comparison once per state and regions. Results
 * live as long as the thumbnail, which must not be changed.
 */
export function shareComparisons(
  { tuning, steps }: ShareComparisonsDeps = {
    tuning: motionTuning,
    steps: { prepare: prepareThumbnail, decodeReference },
  },
): CompareMotion {
  const thumbnails = new WeakMap<Uint8Array, SharedThumbnail>();
  let count = 0;
  const references = new LRUCache<string, Uint8Array>({ max: maxReferences });
  const compare = createMotionComparison(tuning, {
    prepare: (picture) => find(picture).work,
    decodeReference: findReference,
  });
  return (picture, state, regions = [], earlier = []) => {
    const { results } = find(picture);
    const key = JSON.stringify([state, regions, earlier.map((thumbnail) => find(thumbnail).id)]);
    const stored = results.get(key);
    if (stored !== undefined) return stored;
    const result = compare(picture, state, regions, earlier);
    results.set(key, result);
    return result;
  };

  function find(picture: Uint8Array): SharedThumbnail {
    const stored = thumbnails.get(picture);
    if (stored !== undefined) return stored;
    const work = shareWork(steps.prepare(picture, tuning));
    count += 1;
    const shared = { id: count, work, results: newCache<MotionComparison>() };
    thumbnails.set(picture, shared);
    return shared;
  }

  function findReference(encoded: string): Uint8Array | null {
    const stored = references.get(encoded);
    if (stored !== undefined) return stored;
    const reference = steps.decodeReference(encoded);
    if (reference !== null) references.set(encoded, reference);
    return reference;
  }
}

function shareWork(work: ThumbnailWork): ThumbnailWork {
  const distances = newCache<Differences>();
  let encoded: string | undefined;
  return {
    ...work,
    encode: () => (encoded ??= work.encode()),
    measure: (state) => {
      const stored = distances.get(state.encoded);
      if (stored !== undefined) return stored;
      const measured = work.measure(state);
      distances.set(state.encoded, measured);
      return measured;
    },
  };
}

function newCache<Value extends object>(): LRUCache<string, Value> {
  return new LRUCache<string, Value>({ max: maxKept });
}
