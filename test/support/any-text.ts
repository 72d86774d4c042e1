import * as fc from 'fast-check';

/**
 * Texts with any language and control character. `fc.string` of them lists each character of Unicode first, which takes
 * a second of processor time.
 */
export function anyText(constraints: fc.ArrayConstraints = {}): fc.Arbitrary<string> {
  const surrogates = [0xd800, 0xdfff] as const;
  const point = fc.oneof(
    fc.integer({ min: 0, max: 0x7f }),
    fc.integer({ min: 0x80, max: surrogates[0] - 1 }),
    fc.integer({ min: surrogates[1] + 1, max: 0x10ffff }),
  );
  return fc.array(point, constraints).map((points) => String.fromCodePoint(...points));
}
