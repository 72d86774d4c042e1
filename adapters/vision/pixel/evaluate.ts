import type { Measurement } from '../condition/condition.ts';
import type { ClipFacts } from './measure-clip.ts';
import type { PictureFacts } from './measure-picture.ts';

/** Frame, and the motion of the surrounding clip, if any. */
export type Moment = { picture: PictureFacts; clip: ClipFacts | null };

/**
 * Thresholds: maximum mean luma of a dark frame, minimum of a bright one, maximum contrast of a blank one, minimum
 * moving share.
 */
export const thresholds = { dark: 0.2, bright: 0.4, blankContrast: 0.015, motion: 0.002 } as const;

/** Evaluates a measurement. Returns null if it is undecidable: motion from one frame, or words that are not judged. */
export function holdsAtom(atom: Measurement, { picture, clip }: Moment): boolean | null {
  switch (atom.kind) {
    case 'share':
      return compare(picture.shares[atom.color], atom.compare, atom.share);
    case 'region':
      return picture.regions[atom.color] >= atom.share;
    case 'dark':
      return picture.brightness < thresholds.dark;
    case 'bright':
      return picture.brightness >= thresholds.bright;
    case 'blank':
      return picture.contrast < thresholds.blankContrast;
    case 'motion':
      return clip === null ? null : clip.movingShare >= thresholds.motion;
    case 'unmeasurable':
      return null;
  }
}

function compare(
  share: number,
  how: 'at least' | 'more than' | 'at most' | 'less than',
  limit: number,
): boolean {
  switch (how) {
    case 'at least':
      return share >= limit;
    case 'more than':
      return share > limit;
    case 'at most':
      return share <= limit;
    case 'less than':
      return share < limit;
  }
}
