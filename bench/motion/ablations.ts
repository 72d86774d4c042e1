import { createMotionComparison } from '../../adapters/media/motion/compare-motion.ts';
import { type MotionTuning, motionTuning } from '../../adapters/media/motion/tuning.ts';
import { asInAJob } from './detectors.ts';
import { evaluate, type Outcome } from './evaluate.ts';
import type { Clip } from './score.ts';

/** Tunings without one stage each. */
const without: Record<string, Partial<MotionTuning>> = {
  'no stage omitted': {},
  'alignment of camera shake': { shiftPixels: 0 },
  'neighbors in the reference': { reach: 0 },
  'flicker bands': { bandShare: 0 },
  'shade and tint per cell': { shadeShare: 0, tintShare: 0 },
  'noise-adaptive threshold': { noiseFactor: 0 },
  'faint changes of large areas': { faintShare: 1 },
  'learned noise and overlays': { learnedShare: 0 },
  weather: { weatherFactor: 0 },
  color: { color: false },
};

/** Evaluates each tuning on every third clip, which suffices because the differences are large. */
export function ablations(clips: readonly Clip[]): { stage: string; outcome: Outcome }[] {
  const some = clips.filter((_, at) => at % 3 === 0);
  return Object.entries(without).map(([stage, change]) => {
    const compare = createMotionComparison({ ...motionTuning, ...change });
    return { stage, outcome: evaluate(some, () => asInAJob(compare)) };
  });
}
