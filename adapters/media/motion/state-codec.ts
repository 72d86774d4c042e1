import { deflateRawSync, inflateRawSync } from 'node:zlib';
import { thumbnail } from '../../../core/capture.ts';
import { trace } from './picture-health.ts';

/** What the pre-filter remembers from tick to tick. */
export type MotionState = {
  /** The last picture that the model saw: a thumbnail, blurred. */
  reference: Uint8Array;
  /** `previousTrace` of the picture before this one, whether or not the model saw it. */
  previousTrace: Uint8Array;
  /** How far each luma pixel is used to stray, in levels (`noise-map.ts`). */
  noise: Uint8Array;
};

const version = 1;
const referenceAt = 1;
const traceAt = referenceAt + thumbnail.bytes;
const noiseAt = traceAt + trace.bytes;
const stateBytes = noiseAt + thumbnail.width * thumbnail.height;

/**
 * A version byte and three fields, deflated, in base64: about 10 kB, 15 kB from a very noisy camera. Pictures are
 * written as differences along their rows, which halves what deflate leaves; the reference without its lowest bit,
 * which is all noise and a quarter of its size. So decoding gives the reference within one level, the rest exactly.
 */
export function encodeState(state: MotionState): string {
  const bytes = new Uint8Array(stateBytes);
  bytes[0] = version;
  bytes.set(differences(state.reference.map(withoutLowestBit)), referenceAt);
  bytes.set(differences(state.previousTrace), traceAt);
  bytes.set(state.noise, noiseAt);
  return deflateRawSync(bytes, { level: 6 }).toString('base64');
}

/** Null for what is no state of this version, so that a new release starts with a first picture. */
export function decodeState(text: string | null): MotionState | null {
  const bytes = text === null ? null : inflate(text);
  if (bytes === null || bytes.length !== stateBytes || bytes[0] !== version) return null;
  return {
    reference: fromDifferences(bytes.subarray(referenceAt, traceAt)),
    previousTrace: fromDifferences(bytes.subarray(traceAt, noiseAt)),
    noise: bytes.subarray(noiseAt),
  };
}

function inflate(text: string): Uint8Array | null {
  try {
    return inflateRawSync(Buffer.from(text, 'base64'), { maxOutputLength: stateBytes });
  } catch {
    return null;
  }
}

function withoutLowestBit(sample: number): number {
  return sample & 254;
}

/** Modulo 256, which the typed array does by itself. Rows and planes follow each other without a new start. */
function differences(samples: Uint8Array): Uint8Array {
  let left = 0;
  return samples.map((sample) => {
    const step = sample - left;
    left = sample;
    return step;
  });
}

function fromDifferences(steps: Uint8Array): Uint8Array {
  let left = 0;
  return steps.map((step) => (left = (left + step) & 255));
}
