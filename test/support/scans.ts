import type { Capture, Scan } from '../../core/records/capture.ts';
import type { EarlierMotion } from '../../core/records/motion.ts';
import type { World } from './world.ts';

/** Frame of a scripted scan: seconds before the newest frame, and what it shows. */
export type ScriptedFrame = { before: number; shows: 'visitor' | 'quiet' | 'unchanged'; share?: number };

const comparisons = {
  visitor: { moved: true, isNews: true, likeNewest: false },
  quiet: { moved: false, isNews: false, likeNewest: true },
  unchanged: { moved: false, isNews: false, likeNewest: false },
} as const;

/** Returns the comparison of a frame. */
export function compared({ shows, share = shows === 'visitor' ? 0.1 : 0 }: ScriptedFrame): EarlierMotion {
  return { ...comparisons[shows], changedShare: share };
}

/** Scripts the next capture of a world: it finds these frames since the one before. The picture of a frame has its seconds as third byte. */
export function scriptScan(
  { script, clock }: World,
  seconds: number,
  frames: readonly ScriptedFrame[],
  given: Partial<Scan> = {},
): void {
  const at = new Date(clock.now.getTime() + seconds * 1000);
  script.earlier.push(frames.map(compared));
  script.captures.push({ capturedAt: at, scan: newScan(at, frames, given) });
}

/** Creates a scan of frames before `at`. */
export function newScan(
  at: Date,
  frames: readonly ScriptedFrame[],
  given: Partial<Scan> = {},
): NonNullable<Capture['scan']> {
  return {
    frames: frames.map(({ before }) => ({
      at: new Date(at.getTime() - before * 1000),
      thumbnail: new Uint8Array(),
    })),
    coveredSeconds: frames[0]?.before ?? 10,
    leftOutSeconds: 0,
    distanceSeconds: 2,
    picture: async (index) => new Uint8Array([255, 216, frames[index]?.before ?? 0]),
    ...given,
  };
}
