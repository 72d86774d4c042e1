import type { InputMode } from '../records/capture.ts';

/**
 * Returns the number of frames of each model call about a capture with `earlier` moments, oldest first: all together if the model can. A clip
 * stays alone with the newest frame.
 */
export function groupFrames(earlier: number, mode: InputMode, canJudgeMoments: boolean): number[] {
  if (!canJudgeMoments || earlier === 0) return Array.from({ length: earlier + 1 }, () => 1);
  return mode === 'frames' ? [earlier + 1] : [earlier, 1];
}
