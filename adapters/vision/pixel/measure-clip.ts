import { computeLuma } from './measure-picture.ts';

/** Motion of a clip; shares are 0 to 1. */
export type ClipFacts = {
  /** Largest changed share of the frame, between consecutive frames or between the first and the last. */
  movingShare: number;
  /** Share of the frame that differs between the first and the last frame. */
  changedShare: number;
};

/** Minimum luma change: above codec noise in a static scene, below a gray object in front of a gray wall. */
const changedLuma = 0.08;
/** Minimum change of a color channel: a red object may be as bright as its background. */
const changedChannel = 40;

/** Measures frames in packed RGB, of one size and in time order. Returns null for fewer than two. */
export function measureClip(pictures: Uint8Array[]): ClipFacts | null {
  const [first] = pictures;
  const last = pictures.at(-1);
  if (first === undefined || last === undefined || pictures.length < 2) return null;
  const changedShare = differingShare(first, last);
  const steps = pictures
    .slice(1)
    .map((picture, index) => differingShare(pictures[index] ?? picture, picture));
  return { movingShare: Math.max(changedShare, ...steps), changedShare };
}

/** Returns the share of pixels that differ between two frames of one size. */
export function differingShare(before: Uint8Array, now: Uint8Array): number {
  let differing = 0;
  for (let index = 0; index < now.length; index += 3) {
    const red = (now[index] ?? 0) - (before[index] ?? 0);
    const green = (now[index + 1] ?? 0) - (before[index + 1] ?? 0);
    const blue = (now[index + 2] ?? 0) - (before[index + 2] ?? 0);
    const strongest = Math.max(Math.abs(red), Math.abs(green), Math.abs(blue));
    if (Math.abs(computeLuma(red, green, blue)) > changedLuma || strongest > changedChannel) differing += 1;
  }
  return differing / (now.length / 3);
}
