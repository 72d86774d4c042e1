import type { Detector } from './detectors.ts';
import type { Scene } from './scene.ts';

/** Clip with its thumbnails. */
export type Clip = { scene: Scene; pictures: Uint8Array[] };
/** Number of hits and of possible hits. */
export type Tally = { hits: number; of: number };

/** Results of a detector on all clips. */
export type Outcome = {
  /** Ticks of still clips without detection. The first frame always needs a check and is not counted. */
  savings(titles?: readonly string[]): Tally;
  /** Events that are detected in time. A forced check is no detection. */
  recall(where: { title?: string; shares?: (share: number) => boolean }): Tally;
};

/** Evaluates a detector on all clips. */
export function evaluate(clips: readonly Clip[], newDetector: () => Detector): Outcome {
  const judged = clips.map(({ scene, pictures }) => {
    const detector = newDetector();
    return { scene, moved: pictures.map((picture) => detector(picture)) };
  });
  return {
    savings: (titles) =>
      tally(
        judged
          .filter(({ scene }) => scene.events.length === 0 && (titles?.includes(scene.title) ?? true))
          .flatMap(({ moved }) => moved.slice(1).map((yes) => !yes)),
      ),
    recall: ({ title, shares = () => true }) =>
      tally(
        judged
          .filter(({ scene }) => title === undefined || scene.title === title)
          .flatMap(({ scene, moved }) =>
            scene.events
              .filter(({ share }) => shares(share))
              .map(({ fromTick, byTick }) => moved.slice(fromTick, byTick + 1).includes(true)),
          ),
      ),
  };
}

function tally(found: readonly boolean[]): Tally {
  return { hits: found.filter(Boolean).length, of: found.length };
}
