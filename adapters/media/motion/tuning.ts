/**
 * Parameters of motion detection. `docs/contribute/motion-detection.md` explains each stage; `npm run bench -- motion`
 * measures them. Lengths are in thumbnail pixels, brightness in levels (0 to 255).
 */
export type MotionTuning = {
  /** Maximum camera shift between two checks, in each direction. */
  shiftPixels: number;
  /** Maximum brightness change that counts as shadow or flicker, as a share of the light of a pixel. */
  shadeShare: number;
  /** The same for single rows (mains flicker with a rolling shutter). */
  bandShare: number;
  /** Maximum local chroma change that counts as light, as a share of the range (128 levels in each direction). */
  tintShare: number;
  /** Minimum and maximum distance of a certain change. */
  minThreshold: number;
  maxThreshold: number;
  /** Share of the noise that is added to the minimum threshold. */
  noiseFactor: number;
  /** Share of the threshold above which a pixel has a weight. */
  faintShare: number;
  /** Minimum area of connected change, in certainly changed pixels: a box of 20 px at 720p. */
  minArea: number;
  /** Maximum of `minArea` during precipitation, and the required ratio of an object's area to a flake's. */
  maxArea: number;
  weatherFactor: number;
  /** Share of changed pixels that counts as motion regardless of learned noise. */
  unmistakableShare: number;
  /** Factor of the learned noise that is added to the threshold; 0 disables learning. */
  learnedShare: number;
  /** Maximum learned noise outside the top and bottom strips (clocks, names), in levels. */
  learnedInside: number;
  /** True if chroma is compared. */
  color: boolean;
  /** Radius, in pixels, of the neighborhood in the reference that a pixel is compared with. */
  reach: 0 | 1;
};

/** Default parameters. */
export const motionTuning: MotionTuning = {
  shiftPixels: 2,
  shadeShare: 0.14,
  bandShare: 0.12,
  tintShare: 0.05,
  minThreshold: 9,
  maxThreshold: 30,
  noiseFactor: 2,
  faintShare: 0.5,
  minArea: 6,
  maxArea: 40,
  weatherFactor: 2.2,
  unmistakableShare: 0.5,
  learnedShare: 1.25,
  learnedInside: 4,
  color: true,
  reach: 1,
};
