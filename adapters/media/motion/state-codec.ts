import { constants, deflateRawSync, inflateRawSync } from 'node:zlib';
import { thumbnail } from '../../../core/capture.ts';
import { noiseCells, type NoiseMap } from './noise-map.ts';
import { trace } from './picture-health.ts';
import { planesOf, thumbnailOf } from './planes.ts';
import { fromDifferences, toDifferences } from './prediction.ts';

/** What the pre-filter remembers from tick to tick. */
export type MotionState = {
  /** The last picture that the model saw: a thumbnail, blurred. */
  reference: Uint8Array;
  learned: Learned;
};

/** What every picture teaches, whether or not the model saw it. */
export type Learned = {
  /** `traceOf` the newest picture. */
  trace: Uint8Array;
  noise: NoiseMap;
  /** Usual area of falling flakes, in pixels (`weather.ts`). */
  flakeArea: number;
};

/**
 * A state is `3.<reference>.<learned>`, both deflated, in base64: 8 kB, 12 kB from a very noisy camera. A reference that
 * stays is carried along as it was written, so each tick deflates each part once.
 */
const version = '3';
/** The reference is kept in steps of three levels, so within one level: the rest is noise, and a third of its size. */
const levelStep = 3;
const learnedBytes = 1 + trace.bytes + noiseCells;

export function encodeState(reference: string, learned: Learned): string {
  return `${version}.${reference}.${encodeLearned(learned)}`;
}

/** Null for what is no state of this version, so that a new release starts with a first picture. `encoded` is for the next state. */
export function decodeState(text: string | null): (MotionState & { encoded: string }) | null {
  const [written, encoded, rest] = text?.split('.') ?? [];
  if (written !== version || encoded === undefined || rest === undefined) return null;
  const reference = inflate(encoded, thumbnail.bytes);
  const learned = inflate(rest, learnedBytes);
  return reference && learned
    ? { reference: decodeReference(reference), learned: decodeLearned(learned), encoded }
    : null;
}

export function encodeReference(picture: Uint8Array): string {
  const steps = new Uint8Array(picture.length);
  for (let at = 0; at < steps.length; at += 1) steps[at] = ((picture[at] ?? 0) + 1) / levelStep;
  return deflate(byPlane(steps, toDifferences));
}

function decodeReference(differences: Uint8Array): Uint8Array {
  const steps = byPlane(differences, fromDifferences);
  for (let at = 0; at < steps.length; at += 1) steps[at] = (steps[at] ?? 0) * levelStep;
  return steps;
}

function byPlane(
  picture: Uint8Array,
  change: (samples: Uint8Array, width: number) => Uint8Array,
): Uint8Array {
  const { luma, blueness, redness } = planesOf(picture);
  return thumbnailOf({
    luma: { ...luma, samples: change(luma.samples, luma.width) },
    blueness: { ...blueness, samples: change(blueness.samples, blueness.width) },
    redness: { ...redness, samples: change(redness.samples, redness.width) },
  });
}

function encodeLearned({ trace: picture, noise, flakeArea }: Learned): string {
  const bytes = new Uint8Array(learnedBytes);
  bytes[0] = flakeArea;
  bytes.set(toDifferences(picture, trace.width), 1);
  bytes.set(noise, 1 + trace.bytes);
  return deflate(bytes);
}

function decodeLearned(bytes: Uint8Array): Learned {
  return {
    flakeArea: bytes[0] ?? 0,
    trace: fromDifferences(bytes.subarray(1, 1 + trace.bytes), trace.width),
    noise: bytes.subarray(1 + trace.bytes),
  };
}

/** Differences hardly ever repeat as strings do: runs and Huffman codes alone take a third of the time, and no more room. */
function deflate(bytes: Uint8Array): string {
  return deflateRawSync(bytes, { strategy: constants.Z_RLE }).toString('base64');
}

function inflate(text: string, bytes: number): Uint8Array | null {
  try {
    const inflated = inflateRawSync(Buffer.from(text, 'base64'), { maxOutputLength: bytes });
    return inflated.length === bytes ? Uint8Array.from(inflated) : null;
  } catch {
    return null;
  }
}
