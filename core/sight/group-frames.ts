import type { InputMode } from '../records/capture.ts';

/** Frames of a check: earlier moments, and the newest one unless it is black. */
export type FrameCount = { earlier: number; black?: boolean };

/**
 * Returns the number of frames of each model call about a capture, oldest first: all together if the model can. A clip
 * stays alone with the newest frame.
 */
export function groupFrames(
  { earlier, black = false }: FrameCount,
  mode: InputMode,
  canJudgeMoments: boolean,
): number[] {
  const all = earlier + (black ? 0 : 1);
  if (!canJudgeMoments) return Array.from({ length: all }, () => 1);
  return mode === 'frames' || black || earlier === 0 ? [all] : [earlier, 1];
}
