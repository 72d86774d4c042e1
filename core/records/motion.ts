/**
 * The motion pre-filter as the core sees it: a pure comparison of a thumbnail with the last picture that the model saw.
 * States are opaque text (deflated, base64, a few kB) that travels with the workflow's state.
 */
export type MotionComparison = {
  /** True for a first picture too. */
  moved: boolean;
  /** Share of the picture that changed, 0 to 1; 1 for a first picture. */
  changedShare: number;
  /** Nothing but black: no light anywhere, or a blank signal. */
  black: boolean;
  /** The picture is the previous one again, without the noise that every live picture has. */
  identicalToPrevious: boolean;
  /** The state to carry on if the model looked at this picture: it becomes the reference. */
  stateWithNewReference: string;
  /** The state to carry on if it did not: the reference stays, what was learned of noise is kept. */
  stateWithSameReference: string;
};

/** `state` is null for the first picture; a state that cannot be read counts as null. */
export type CompareMotion = (thumbnail: Uint8Array, state: string | null) => MotionComparison;
