import { expect, test } from 'vitest';
import { noiseCells } from '../../../../adapters/media/motion/noise-map.ts';
import { fingerprint } from '../../../../adapters/media/motion/frame-health.ts';
import {
  fromResiduals,
  toResiduals,
  decodeState,
  encodeReference,
  encodeState,
} from '../../../../adapters/media/motion/state-codec.ts';
import { thumbnail } from '../../../../core/records/capture.ts';

const picture = Uint8Array.from({ length: thumbnail.bytes }, (_, at) => (at * 7 + (at >> 5)) % 256);
const learned = {
  trace: Uint8Array.from({ length: fingerprint.bytes }, (_, at) => (at * 13) % 256),
  noise: Uint8Array.from({ length: noiseCells }, (_, at) => at % 40),
  flakeArea: 17,
};

test('a decoded state has exact learned values and a reference within one level', () => {
  const state = decodeState(encodeState(encodeReference(picture), learned));
  expect(state?.learned).toEqual(learned);
  const away = picture.map((level, at) => Math.abs(level - state!.reference[at]!));
  expect(Math.max(...away)).toBe(1);
});

test('a copied reference does not degrade', () => {
  const first = decodeState(encodeState(encodeReference(picture), learned));
  const later = decodeState(encodeState(first!.encoded, { ...learned, flakeArea: 3 }));
  expect(later!.reference).toEqual(first!.reference);
  expect(later!.learned.flakeArea).toBe(3);
});

test.each([
  ['of another version', (state: string) => state.replace(/^3/, '2')],
  ['with a missing part', (state: string) => state.slice(0, state.lastIndexOf('.'))],
  ['with a damaged reference', (state: string) => `${state.slice(0, 20)}AAAA${state.slice(24)}`],
  [
    'that inflates beyond its size',
    (state: string) => state.replace(/\.[^.]+$/, state.slice(1, state.lastIndexOf('.'))),
  ],
])('a state %s is ignored', (_, damage) => {
  const state = encodeState(encodeReference(picture), learned);
  expect(decodeState(damage(state))).toBeNull();
});

test('residuals restore any plane', () => {
  const width = 16;
  const plane = Uint8Array.from({ length: width * 9 }, (_, at) => (at * at * 31) % 256);
  expect(fromResiduals(toResiduals(plane, width), width)).toEqual(plane);
});
