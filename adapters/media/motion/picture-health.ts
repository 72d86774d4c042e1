import { thumbnail } from '../../../core/capture.ts';
import type { Plane, Planes } from './planes.ts';

/** Black level is 16 in video range and 0 in full range; a lens cap's noise adds a few levels. */
const blackLevel = 20;
/** From darkest to brightest. A face at night stands out by more. */
const blackSpread = 4;
const colourless = 128;
const colourSpread = 4;
/** Ringing of the codec at a border: a 2000th of the picture. */
const strayShare = 1 / 2000;

/** Nothing but black: all of it at black level, flat and without colour. A night scene is none of this. */
export function isBlack({ luma, blueness, redness }: Planes): boolean {
  if (hasLight(luma.samples)) return false;
  const { low, high } = extremes(luma.samples);
  if (high > blackLevel || high - low > blackSpread) return false;
  return [blueness, redness].every((plane) => {
    const chroma = extremes(plane.samples);
    return chroma.low >= colourless - colourSpread && chroma.high <= colourless + colourSpread;
  });
}

/** Nearly every picture has, and shows it in its first few pixels. */
function hasLight(samples: Uint8Array): boolean {
  const strays = samples.length * strayShare;
  let bright = 0;
  for (let at = 0; at < samples.length; at += 1) {
    if ((samples[at] ?? 0) > blackLevel) bright += 1;
    if (bright > strays) return true;
  }
  return false;
}

/** Darkest and brightest level once the strays at both ends are left out. */
function extremes(samples: Uint8Array): { low: number; high: number } {
  const histogram = new Uint32Array(256);
  for (let at = 0; at < samples.length; at += 1) {
    const level = samples[at] ?? 0;
    histogram[level] = (histogram[level] ?? 0) + 1;
  }
  const strays = samples.length * strayShare;
  return { low: firstBeyond(histogram, strays), high: 255 - firstBeyond(histogram.toReversed(), strays) };
}

function firstBeyond(histogram: Uint32Array, strays: number): number {
  let counted = 0;
  return histogram.findIndex((pixels) => (counted += pixels) > strays);
}

/** Every eighth luma pixel, shifted from row to row: enough of a picture to know it again, exact in level. */
export const trace = {
  every: 8,
  width: thumbnail.width / 8,
  bytes: (thumbnail.width * thumbnail.height) / 8,
} as const;

export function traceOf({ samples, width }: Plane): Uint8Array {
  const kept = new Uint8Array(trace.bytes);
  for (let at = 0; at < trace.bytes; at += 1) {
    const place = at * trace.every;
    const shift = ((place / width) & 1) === 0 ? 0 : trace.every / 2;
    kept[at] = samples[place + shift] ?? 0;
  }
  return kept;
}

/**
 * The same picture again. Measured with libx264: a source that stands still settles to differences of at most one
 * level on 0.5 % of the pixels from one key frame to the next, while noise of ±2 levels, far below any sensor's, still
 * moves 1 % and more. A stream wrongly called frozen costs a job, one not called so costs a look, so this is strict: a
 * detailed still at a starved bit rate (±1 level on 10 %) is taken for live.
 */
const identicalShare = 0.005;
const identicalLevels = 2;

export function isIdentical(before: Uint8Array, now: Uint8Array): boolean {
  const most = now.length * identicalShare;
  let differing = 0;
  for (let at = 0; at < now.length; at += 1) {
    const levels = Math.abs((now[at] ?? 0) - (before[at] ?? 0));
    if (levels > identicalLevels) return false;
    if (levels > 0) differing += 1;
    if (differing > most) return false;
  }
  return true;
}
