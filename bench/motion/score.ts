import type { Detector } from './detectors.ts';
import type { Scene } from './scene.ts';

export type Half = 'tuning' | 'held out';
/** A clip as a detector meets it. */
export type Clip = { scene: Scene; half: Half; pictures: Uint8Array[] };
/** How often something was so, of how often it could have been. */
export type Tally = { hits: number; of: number };

export type Found = { event: Scene['events'][number]; seen: boolean };

/** Ticks of a still clip at which nothing was seen moving; the first picture has to be looked at and is left out. */
export function savedTicks(clip: Clip, detector: Detector): Tally {
  const moved = clip.pictures.map((picture) => detector(picture)).slice(1);
  return { hits: moved.filter((yes) => !yes).length, of: moved.length };
}

/** Which events were seen in time. A look that the job forces does not count as seeing. */
export function foundEvents(clip: Clip, detector: Detector): Found[] {
  const moved = clip.pictures.map((picture) => detector(picture));
  return clip.scene.events.map((event) => ({
    event,
    seen: moved.slice(event.fromTick, event.byTick + 1).includes(true),
  }));
}

export function sum(tallies: readonly Tally[]): Tally {
  return tallies.reduce((all, { hits, of }) => ({ hits: all.hits + hits, of: all.of + of }), {
    hits: 0,
    of: 0,
  });
}

export function tallyOf(found: readonly Found[]): Tally {
  return { hits: found.filter(({ seen }) => seen).length, of: found.length };
}

/** Lower end of the 95 % interval (Wilson). */
export function atLeast({ hits, of }: Tally): number {
  if (of === 0) return 0;
  const z = 1.96;
  const share = hits / of;
  const middle = share + (z * z) / (2 * of);
  const spread = z * Math.sqrt((share * (1 - share)) / of + (z * z) / (4 * of * of));
  return (middle - spread) / (1 + (z * z) / of);
}
