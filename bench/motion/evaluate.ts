import { rules } from '../../core/rules.ts';
import type { CompareMotion } from '../../core/records/motion.ts';
import type { Scene } from './scenes.ts';

/** Detector that reads the thumbnails of one clip in order and returns true for motion. */
type Detector = (picture: Uint8Array) => boolean;
/** Clip with its thumbnails. */
export type Clip = { scene: Scene; pictures: Uint8Array[] };
/** Number of hits and of possible hits. */
export type Tally = { hits: number; of: number };
export type Outcome = ReturnType<typeof evaluate>;

/** Evaluates a detector on all clips. */
export function evaluate(clips: readonly Clip[], newDetector: () => Detector) {
  const judged = clips.map(({ scene, pictures }) => {
    const detector = newDetector();
    return { scene, moved: pictures.map((picture) => detector(picture)) };
  });
  return {
    /** Ticks of still clips without detection. The first frame always needs a check and is not counted. */
    savings: (titles?: readonly string[]): Tally =>
      tally(
        judged
          .filter(({ scene }) => scene.events.length === 0 && (titles?.includes(scene.title) ?? true))
          .flatMap(({ moved }) => moved.slice(1).map((yes) => !yes)),
      ),
    /** Events that are detected in time. A forced check is no detection. */
    recall: ({
      title,
      shares = () => true,
    }: {
      title?: string;
      shares?: (share: number) => boolean;
    }): Tally =>
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

/** Wraps a comparison with the state of a job and its forced checks, which move the reference but are no detection. */
export function asInAJob(compare: CompareMotion): Detector {
  let state: string | null = null;
  let skipped = 0;
  return (picture) => {
    const { moved, stateWithNewReference, stateWithSameReference } = compare(picture, state);
    const checks = moved || skipped >= rules.forceCheckAfterSkips;
    state = checks ? stateWithNewReference : stateWithSameReference;
    skipped = checks ? 0 : skipped + 1;
    return moved;
  };
}

/** Detects motion like many small programs: more than 15 levels on more than 0.1 % of the luma of two consecutive frames. */
export function previousFrame(): Detector {
  let before: Uint8Array | null = null;
  return (picture) => {
    const last = before;
    before = picture;
    if (last === null) return true;
    const pixels = (picture.length * 2) / 3;
    let changed = 0;
    for (let at = 0; at < pixels; at += 1) if (Math.abs(picture[at]! - last[at]!) > 15) changed += 1;
    return changed > pixels * 0.001;
  };
}
