import type { CaptureRequest } from '../core/records/capture.ts';

/** Stream as a caller reads it: what its servers answer is shared with no other caller. */
export type CallerStream = Pick<CaptureRequest, 'url' | 'caller'>;

/** Returns the key of a stream in a map of the streams of all callers. */
export function toStreamKey({ url, caller }: CallerStream): string {
  return JSON.stringify([caller, url]);
}
