import { createScannedFrame } from '../../../adapters/media/scan/frame-pictures.ts';
import type { Capture, Scan } from '../../../core/records/capture.ts';
import type { EarlierMotion } from '../../../core/records/motion.ts';
import type { World } from '../world.ts';

const comparisons = {
  visitor: { moved: true, isNews: true, likeNewest: false, black: false },
  quiet: { moved: false, isNews: false, likeNewest: true, black: false },
  unchanged: { moved: false, isNews: false, likeNewest: false, black: false },
  black: { moved: true, isNews: false, likeNewest: false, black: true },
} as const;

/** Frame of a scripted scan: seconds before the newest frame, and what it shows. */
export type ScriptedFrame = { before: number; shows: keyof typeof comparisons; share?: number };

/** Returns the comparison of a frame. */
export function compared({ shows, share = shows === 'visitor' ? 0.1 : 0 }: ScriptedFrame): EarlierMotion {
  return { ...comparisons[shows], changedShare: share };
}

/**
 * Scripts the next capture of a world: it finds these frames since the one before. The picture of a frame has its
 * seconds as third byte.
 */
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
    frames: frames.map(({ before }) =>
      createScannedFrame(at.getTime() - before * 1000, new Uint8Array(), async () =>
        Uint8Array.of(255, 216, before),
      ),
    ),
    coveredSeconds: frames[0]?.before ?? 10,
    leftOutSeconds: 0,
    distanceSeconds: 2,
    ...given,
  };
}
