import type { Capture } from '../records/capture.ts';
import type { Region } from '../records/capture.ts';

/**
 * Draws regions into frame and clip: blanks excluded areas, outlines included ones. Throws `TransientError` if that fails: excluded
 * areas must not leave the service.
 */
export type MaskMedia = (
  media: Pick<Capture, 'frame' | 'clip'>,
  regions: readonly Region[],
  signal: AbortSignal,
) => Promise<Pick<Capture, 'frame' | 'clip'>>;
