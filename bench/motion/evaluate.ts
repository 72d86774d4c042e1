import type { Detector } from './detectors.ts';
import {
  type Clip,
  type Found,
  foundEvents,
  type Half,
  savedTicks,
  sum,
  type Tally,
  tallyFindings,
} from './score.ts';

/** Results of a detector on all clips. */
export type Outcome = {
  savings(where: { half?: Half; titles?: readonly string[] }): Tally;
  recall(where: { half?: Half; title?: string; shares?: (share: number) => boolean }): Tally;
};

/** Evaluates a detector on all clips. */
export function evaluate(clips: readonly Clip[], newDetector: () => Detector): Outcome {
  const still: { title: string; half: Half; saved: Tally }[] = [];
  const eventful: { title: string; half: Half; found: Found[] }[] = [];
  for (const clip of clips) {
    const { title, events } = clip.scene;
    if (events.length === 0) still.push({ title, half: clip.half, saved: savedTicks(clip, newDetector()) });
    else eventful.push({ title, half: clip.half, found: foundEvents(clip, newDetector()) });
  }
  return {
    savings: ({ half, titles }) =>
      sum(
        still
          .filter((clip) => (half ?? clip.half) === clip.half && (titles?.includes(clip.title) ?? true))
          .map(({ saved }) => saved),
      ),
    recall: ({ half, title, shares = () => true }) =>
      tallyFindings(
        eventful
          .filter((clip) => (half ?? clip.half) === clip.half && (title ?? clip.title) === clip.title)
          .flatMap(({ found }) => found)
          .filter(({ event }) => shares(event.share)),
      ),
  };
}
