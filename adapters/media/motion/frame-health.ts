import { thumbnail } from '../../../core/records/capture.ts';
import type { Plane, Planes } from './planes.ts';

/** Maximum black level: 16 in video range, 0 in full range, plus a few levels of noise behind a lens cap. */
const blackLevel = 20;
/** Maximum spread between darkest and brightest level of a black frame. A face at night exceeds it. */
const blackSpread = 4;
const colorless = 128;
const colorSpread = 4;
/** Share of pixels to ignore: codec ringing at a border. */
const strayShare = 1 / 2000;

/** Returns true for a black frame: every pixel near black level, flat and colorless. A night scene is not black. */
export function isBlack({ luma, cb: blueness, cr: redness }: Planes): boolean {
  if (hasLight(luma.samples)) return false;
  const { low, high } = extremes(luma.samples);
  if (high > blackLevel || high - low > blackSpread) return false;
  return [blueness, redness].every((plane) => {
    const chroma = extremes(plane.samples);
    return chroma.low >= colorless - colorSpread && chroma.high <= colorless + colorSpread;
  });
}

/** Shortcut: nearly every frame has light in its first pixels. */
function hasLight(samples: Uint8Array): boolean {
  const strays = samples.length * strayShare;
  let bright = 0;
  for (let pixel = 0; pixel < samples.length; pixel += 1) {
    if ((samples[pixel] ?? 0) > blackLevel) bright += 1;
    if (bright > strays) return true;
  }
  return false;
}

/** Returns the darkest and brightest level without the ignored pixels at both ends. */
function extremes(samples: Uint8Array): { low: number; high: number } {
  const histogram = new Uint32Array(256);
  for (let pixel = 0; pixel < samples.length; pixel += 1) {
    const level = samples[pixel] ?? 0;
    histogram[level] = (histogram[level] ?? 0) + 1;
  }
  const strays = samples.length * strayShare;
  return { low: firstBeyond(histogram, strays), high: 255 - firstBeyond(histogram.toReversed(), strays) };
}

function firstBeyond(histogram: Uint32Array, strays: number): number {
  let counted = 0;
  return histogram.findIndex((pixels) => (counted += pixels) > strays);
}

/** Layout of a frame fingerprint: every eighth luma pixel, alternating between rows, with exact levels. */
export const fingerprint = {
  every: 8,
  width: thumbnail.width / 8,
  bytes: (thumbnail.width * thumbnail.height) / 8,
} as const;

export function computeFingerprint({ samples, width }: Plane): Uint8Array {
  const kept = new Uint8Array(fingerprint.bytes);
  for (let index = 0; index < fingerprint.bytes; index += 1) {
    const position = index * fingerprint.every;
    const shift = ((position / width) & 1) === 0 ? 0 : fingerprint.every / 2;
    kept[index] = samples[position + shift] ?? 0;
  }
  return kept;
}

/**
 * Maximum share of differing pixels in two identical frames. Measured with libx264: a static source differs by at
 * most one level on 0.5 % of the pixels between key frames. Noise of ±2 levels, below any sensor's, moves 1 % or
 * more. A false frozen stream costs a job, a missed one a check, so the limit is strict. A detailed still at a very
 * low bit rate (±1 level on 10 %) counts as live.
 */
const identicalShare = 0.005;
const identicalLevels = 2;

/** Returns true if two fingerprints belong to the same image. */
export function isIdentical(before: Uint8Array, now: Uint8Array): boolean {
  const max = now.length * identicalShare;
  let differing = 0;
  for (let index = 0; index < now.length; index += 1) {
    const levels = Math.abs((now[index] ?? 0) - (before[index] ?? 0));
    if (levels > identicalLevels) return false;
    if (levels > 0) differing += 1;
    if (differing > max) return false;
  }
  return true;
}
