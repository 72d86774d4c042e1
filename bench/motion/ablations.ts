import { createMotionComparison } from '../../adapters/media/motion/compare-motion.ts';
import { type MotionTuning, motionTuning } from '../../adapters/media/motion/tuning.ts';
import { asInAJob } from './detectors.ts';
import { evaluate, type Outcome } from './evaluate.ts';
import type { Clip } from './score.ts';

/** Each stage left out by itself. */
const without: Record<string, Partial<MotionTuning>> = {
  'nothing left out': {},
  'alignment of a shaken camera': { shiftPixels: 0 },
  'neighbours in the reference': { reach: 0 },
  'bands of flicker': { bandShare: 0 },
  'shade and tint by cells': { shadeShare: 0, tintShare: 0 },
  'threshold that follows the noise': { noiseFactor: 0 },
  'faint change of large areas': { faintShare: 1 },
  'learned noise and overlays': { learnedShare: 0 },
  weather: { weatherFactor: 0 },
  colour: { colour: false },
};

/** Every third clip, as the differences are large. */
export function ablations(clips: readonly Clip[]): { stage: string; outcome: Outcome }[] {
  const some = clips.filter((_, at) => at % 3 === 0);
  return Object.entries(without).map(([stage, change]) => {
    const compare = createMotionComparison({ ...motionTuning, ...change });
    return { stage, outcome: evaluate(some, () => asInAJob(compare)) };
  });
}
