import type { Region } from './capture.ts';

/**
 * Result of the motion pre-filter: a pure comparison of a thumbnail with the motion reference. States are opaque text
 * (deflated, base64, a few kB; a picture of 160×90) that the workflow carries from tick to tick.
 */
export type MotionComparison = {
  /** True if the thumbnail differs from the motion reference, and for the first thumbnail. */
  moved: boolean;
  /** Share of the thumbnail that changed, 0 to 1; 1 for the first thumbnail. */
  changedShare: number;
  /** True if the thumbnail has no light: black, or a blank signal. */
  black: boolean;
  /** True if the thumbnail, and each earlier one, equals the previous one, without the noise of live video. */
  identicalToPrevious: boolean;
  /** Next state if the capture reaches the model: the thumbnail becomes the motion reference. */
  stateWithNewReference: string;
  /** Next state if the capture is skipped: keeps the motion reference and adds the learned noise. */
  stateWithSameReference: string;
  /** Comparisons of the earlier thumbnails, in the same order. */
  earlier: readonly EarlierMotion[];
};

/** Comparison of a thumbnail from before the newest one. */
export type EarlierMotion = {
  /** True if it differs from the motion reference. */
  moved: boolean;
  /**
   * True if it differs from the newest one before it that was news; from the motion reference, if none was. A thing
   * that stays is news once.
   */
  isNews: boolean;
  /** True if it does not differ from the newest thumbnail. */
  likeNewest: boolean;
  /** Share of it that differs from the motion reference, 0 to 1. */
  changedShare: number;
  /** True if it has no light. */
  black: boolean;
};

/**
 * Compares a thumbnail with the state. `null` is the state before the first thumbnail; an unreadable state counts as
 * `null`. With regions, only motion in the watched part counts; light, black and identical pictures are those of the
 * whole thumbnail. `earlier` are thumbnails since the last comparison, oldest first: noise is learned from each of
 * them.
 */
export type CompareMotion = (
  thumbnail: Uint8Array,
  state: string | null,
  regions?: readonly Region[],
  earlier?: readonly Uint8Array[],
) => MotionComparison;
