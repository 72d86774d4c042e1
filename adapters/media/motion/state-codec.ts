import { constants, deflateRawSync, inflateRawSync } from 'node:zlib';
import { thumbnail } from '../../../core/records/capture.ts';
import { noiseCells, type NoiseMap } from './noise-map.ts';
import { fingerprint } from './frame-health.ts';
import { splitPlanes, joinPlanes, maxInt, minInt } from './planes.ts';

/** State of the pre-filter, kept between ticks. */
export type MotionState = {
  /** Motion reference: the blurred thumbnail that last reached the model. */
  reference: Uint8Array;
  learned: Learned;
};

export type DecodedState = MotionState & { encoded: string };

/** Values learned from every frame, whether or not it reached the model. */
export type Learned = {
  /** Fingerprint of the newest frame (`computeFingerprint`). */
  trace: Uint8Array;
  noise: NoiseMap;
  /** Usual area of a snowflake or raindrop, in pixels (`precipitation.ts`). */
  flakeArea: number;
};

/**
 * Format version. A state is `3.<reference>.<learned>`, both parts deflated, in base64: 8 kB, or 12 kB from a very
 * noisy camera. An unchanged reference is copied without encoding it again.
 */
const version = '3';
/**
 * Quantization of the reference, in levels. The error is one level, below the noise, and the size falls by a third.
 */
const levelStep = 3;
const learnedBytes = 1 + fingerprint.bytes + noiseCells;

export function encodeState(reference: string, learned: Learned): string {
  return `${version}.${reference}.${encodeLearned(learned)}`;
}

/**
 * Decodes a state. Returns null for other versions, so that a new release starts without a reference. `encoded` is
 * reused for the next state.
 */
export function decodeState(text: string | null, read = decodeReference): DecodedState | null {
  const [written, encoded, rest] = text?.split('.') ?? [];
  if (written !== version || encoded === undefined || rest === undefined) return null;
  const reference = read(encoded);
  const learned = inflate(rest, learnedBytes);
  return reference && learned ? { reference, learned: decodeLearned(learned), encoded } : null;
}

export function encodeReference(picture: Uint8Array): string {
  const steps = new Uint8Array(picture.length);
  for (let index = 0; index < steps.length; index += 1)
    steps[index] = ((picture[index] ?? 0) + 1) / levelStep;
  return deflate(byPlane(steps, toResiduals));
}

/** Decodes a reference. Returns null if it is damaged. */
export function decodeReference(encoded: string): Uint8Array | null {
  const differences = inflate(encoded, thumbnail.bytes);
  if (differences === null) return null;
  const steps = byPlane(differences, fromResiduals);
  for (let index = 0; index < steps.length; index += 1) steps[index] = (steps[index] ?? 0) * levelStep;
  return steps;
}

function byPlane(
  picture: Uint8Array,
  change: (samples: Uint8Array, width: number) => Uint8Array,
): Uint8Array {
  const { luma, cb: blueness, cr: redness } = splitPlanes(picture);
  return joinPlanes({
    luma: { ...luma, samples: change(luma.samples, luma.width) },
    cb: { ...blueness, samples: change(blueness.samples, blueness.width) },
    cr: { ...redness, samples: change(redness.samples, redness.width) },
  });
}

function encodeLearned({ trace: picture, noise, flakeArea }: Learned): string {
  const bytes = new Uint8Array(learnedBytes);
  bytes[0] = flakeArea;
  bytes.set(toResiduals(picture, fingerprint.width), 1);
  bytes.set(noise, 1 + fingerprint.bytes);
  return deflate(bytes);
}

function decodeLearned(bytes: Uint8Array): Learned {
  return {
    flakeArea: bytes[0] ?? 0,
    trace: fromResiduals(bytes.subarray(1, 1 + fingerprint.bytes), fingerprint.width),
    noise: bytes.subarray(1 + fingerprint.bytes),
  };
}

/**
 * Residuals rarely repeat as strings. Run lengths and Huffman codes alone take a third of the time at the same
 * size.
 */
function deflate(bytes: Uint8Array): string {
  return deflateRawSync(bytes, { strategy: constants.Z_RLE }).toString('base64');
}

function inflate(text: string, bytes: number): Uint8Array | null {
  try {
    const inflated = inflateRawSync(Buffer.from(text, 'base64'), {
      maxOutputLength: bytes,
      // One buffer for the whole result.
      chunkSize: bytes,
    });
    return inflated.length === bytes ? Uint8Array.from(inflated) : null;
  } catch {
    return null;
  }
}

/**
 * Returns each sample minus its prediction: the median of left, above, and left + above - corner (lossless JPEG).
 * The residuals are small and similar, so they deflate to half the size. The arithmetic is modulo 256, which the
 * typed array provides.
 */
export function toResiduals(samples: Uint8Array, width: number): Uint8Array {
  const differences = new Uint8Array(samples.length);
  for (let row = 0; row < samples.length; row += width) {
    let left = row === 0 ? 0 : (samples[row - width] ?? 0);
    let corner = left;
    for (let pixel = row; pixel < row + width; pixel += 1) {
      const above = row === 0 ? left : (samples[pixel - width] ?? 0);
      const here = samples[pixel] ?? 0;
      differences[pixel] = here - guess(left, above, row === 0 ? left : corner);
      left = here;
      corner = above;
    }
  }
  return differences;
}

export function fromResiduals(differences: Uint8Array, width: number): Uint8Array {
  const samples = new Uint8Array(differences.length);
  for (let row = 0; row < samples.length; row += width) {
    let left = row === 0 ? 0 : (samples[row - width] ?? 0);
    let corner = left;
    for (let pixel = row; pixel < row + width; pixel += 1) {
      const above = row === 0 ? left : (samples[pixel - width] ?? 0);
      left = ((differences[pixel] ?? 0) + guess(left, above, row === 0 ? left : corner)) & 255;
      samples[pixel] = left;
      corner = above;
    }
  }
  return samples;
}

/** Returns the median of left, above, and left + above - corner. */
function guess(left: number, above: number, corner: number): number {
  const low = minInt(left, above);
  const high = maxInt(left, above);
  return minInt(maxInt(left + above - corner, low), high);
}
