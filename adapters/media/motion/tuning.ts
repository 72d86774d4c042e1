/**
 * Every number that the pre-filter's judgement hangs on. `docs/motion.md` has what each stage is for, and what it costs to leave it
 * out; `npm run bench:motion` measures it. Lengths are in pixels of the thumbnail, brightness in levels of 0 to 255.
 */
export type MotionTuning = {
  /** How far a camera may have moved between two looks, each way. */
  shiftPixels: number;
  /** Largest change of brightness that is shade or flicker rather than a thing, as a share of the brightness that is there. */
  shadeShare: number;
  /** The same for single rows, as lamps on mains and a rolling shutter make them. */
  bandShare: number;
  /** Largest local change of colour that is light, as a share of the range of colours (128 levels each way). */
  tintShare: number;
  /** Bounds of the distance at which a pixel has changed beyond doubt. */
  leastThreshold: number;
  mostThreshold: number;
  /** How much of the noise is added to the least threshold. */
  noiseFactor: number;
  /** Of the threshold, from where on a pixel counts a little. */
  faintShare: number;
  /** Area of the smallest connected change that counts, in pixels that have changed beyond doubt: a box of 20 px at 720p. */
  leastArea: number;
  /** How far falling snow may raise that, and how much larger than the flakes a thing must be. */
  mostArea: number;
  weatherFactor: number;
  /** From this share of the picture on nothing learned may hide it. */
  unmistakableShare: number;
  /** How much of a learned level is added to the threshold; 0 learns nothing. */
  learnedShare: number;
  /** The most that is learned away from the top and bottom edge, where clocks and names stand, in levels. */
  learnedInside: number;
  /** Whether colour counts. */
  colour: boolean;
  /** A pixel is compared with all that the reference shows within so many pixels around it. */
  reach: 0 | 1;
};

export const motionTuning: MotionTuning = {
  shiftPixels: 2,
  shadeShare: 0.14,
  bandShare: 0.12,
  tintShare: 0.05,
  leastThreshold: 9,
  mostThreshold: 30,
  noiseFactor: 2,
  faintShare: 0.5,
  leastArea: 6,
  mostArea: 40,
  weatherFactor: 2.2,
  unmistakableShare: 0.5,
  learnedShare: 1.25,
  learnedInside: 4,
  colour: true,
  reach: 1,
};
