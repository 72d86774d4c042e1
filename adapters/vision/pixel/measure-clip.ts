import { lumaOf } from './measure-picture.ts';

/** What moved in a clip; shares are 0 to 1. */
export type ClipFacts = {
  /** The largest share of the picture that changed from one moment to the next, or from the first to the last. */
  movingShare: number;
  /** Share of the picture that differs between the first and the last moment. */
  changedShare: number;
};

/** Above what a codec does to a still scene, below a grey thing before a grey wall. */
const changedLuma = 0.08;
/** The same for a colour channel: a red thing may be as bright as its background. */
const changedChannel = 40;

/** `pictures` are packed RGB of one size, in time order; null if there are fewer than two. */
export function measureClip(pictures: Uint8Array[]): ClipFacts | null {
  const [first] = pictures;
  const last = pictures.at(-1);
  if (first === undefined || last === undefined || pictures.length < 2) return null;
  const changedShare = differingShare(first, last);
  const steps = pictures.slice(1).map((picture, at) => differingShare(pictures[at] ?? picture, picture));
  return { movingShare: Math.max(changedShare, ...steps), changedShare };
}

/** Share of the pixels that differ between two pictures of one size. */
export function differingShare(before: Uint8Array, now: Uint8Array): number {
  let differing = 0;
  for (let at = 0; at < now.length; at += 3) {
    const red = (now[at] ?? 0) - (before[at] ?? 0);
    const green = (now[at + 1] ?? 0) - (before[at + 1] ?? 0);
    const blue = (now[at + 2] ?? 0) - (before[at + 2] ?? 0);
    const strongest = Math.max(Math.abs(red), Math.abs(green), Math.abs(blue));
    if (Math.abs(lumaOf(red, green, blue)) > changedLuma || strongest > changedChannel) differing += 1;
  }
  return differing / (now.length / 3);
}
