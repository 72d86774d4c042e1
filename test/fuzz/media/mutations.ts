import fc from 'fast-check';

/** Bytes of a real file with parts changed, removed, repeated, or replaced by numbers that break parsers. */
export function mutated(real: Uint8Array): fc.Arbitrary<Uint8Array> {
  const change = fc.record({
    kind: fc.constantFrom('set', 'number', 'cut', 'repeat', 'insert'),
    at: fc.nat(Math.max(0, real.length - 1)),
    length: fc.oneof(fc.nat(8), fc.nat(512)),
    bytes: fc.oneof(fc.constantFrom(...tellingBytes), fc.uint8Array({ maxLength: 8 })),
  });
  return fc
    .tuple(fc.array(change, { minLength: 1, maxLength: 12 }), fc.option(fc.nat(real.length)))
    .map(([changes, end]) => changes.reduce(apply, real.slice(0, end ?? undefined)));
}

const tellingBytes = [
  [0x00],
  [0xff],
  [0x7f, 0xff, 0xff, 0xff],
  [0x80, 0x00, 0x00, 0x00],
  [0xff, 0xff, 0xff, 0xff],
  [0x00, 0x00, 0x00, 0x00],
  [0x00, 0x00, 0x00, 0x01],
  [0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff],
].map((bytes) => Uint8Array.from(bytes));

type Change = { kind: string; at: number; length: number; bytes: Uint8Array };

function apply(before: Uint8Array, { kind, at, length, bytes }: Change): Uint8Array {
  const [head, rest] = [before.subarray(0, at), before.subarray(at)];
  switch (kind) {
    case 'cut':
      return joined(head, rest.subarray(length));
    case 'repeat':
      return joined(head, rest.subarray(0, length), rest);
    case 'insert':
      return joined(head, bytes, rest);
    case 'number':
      return joined(head, bytes, rest.subarray(bytes.length));
    default:
      return joined(head, Uint8Array.of(length & 0xff), rest.subarray(1));
  }
}

function joined(...parts: Uint8Array[]): Uint8Array {
  return new Uint8Array(Buffer.concat(parts));
}

/** Text in chunks of any length, like from a network. */
export function inPieces(bytes: Uint8Array, lengths: readonly number[]): Uint8Array[] {
  const pieces: Uint8Array[] = [];
  let at = 0;
  for (const length of lengths) {
    pieces.push(bytes.subarray(at, at + length));
    at += length;
  }
  return [...pieces, bytes.subarray(at)].filter((piece) => piece.length > 0);
}
