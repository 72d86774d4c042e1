import type { Detector } from './detectors.ts';
import type { Scene } from './scene.ts';

/** Half of the seeds: used for tuning, or only reported. */
export type Half = 'tuning' | 'held out';
/** Clip with its thumbnails. */
export type Clip = { scene: Scene; half: Half; pictures: Uint8Array[] };
/** Number of hits and of possible hits. */
export type Tally = { hits: number; of: number };

/** Event with its detection. */
export type Found = { event: Scene['events'][number]; seen: boolean };

/** Counts the ticks of a still clip without detection. The first frame always needs a check and is not counted. */
export function savedTicks(clip: Clip, detector: Detector): Tally {
  const moved = clip.pictures.map((picture) => detector(picture)).slice(1);
  return { hits: moved.filter((yes) => !yes).length, of: moved.length };
}

/** Returns the events with their detection in time. A forced check is no detection. */
export function foundEvents(clip: Clip, detector: Detector): Found[] {
  const moved = clip.pictures.map((picture) => detector(picture));
  return clip.scene.events.map((event) => ({
    event,
    seen: moved.slice(event.fromTick, event.byTick + 1).includes(true),
  }));
}

/** Adds up tallies. */
export function sum(tallies: readonly Tally[]): Tally {
  return tallies.reduce((all, { hits, of }) => ({ hits: all.hits + hits, of: all.of + of }), {
    hits: 0,
    of: 0,
  });
}

/** Counts the detected events. */
export function tallyFindings(found: readonly Found[]): Tally {
  return { hits: found.filter(({ seen }) => seen).length, of: found.length };
}

/** Returns the lower bound of the 95 % interval (Wilson). */
export function atLeast({ hits, of }: Tally): number {
  if (of === 0) return 0;
  const z = 1.96;
  const share = hits / of;
  const middle = share + (z * z) / (2 * of);
  const spread = z * Math.sqrt((share * (1 - share)) / of + (z * z) / (4 * of * of));
  return (middle - spread) / (1 + (z * z) / of);
}
