/**
 * Reader of the bits of a NAL unit without emulation prevention. Throws `MalformedUnitError` at the end of the bytes.
 */
export type BitReader = ReturnType<typeof createBitReader>;

/** NAL unit that is damaged, or differs from what is supported. */
export class MalformedUnitError extends Error {}

export function createBitReader(bytes: Uint8Array) {
  let position = 0;
  return { bits, unsigned, signed, flag: () => bits(1) === 1 };

  /** Reads a number of at most 32 bits. */
  function bits(count: number): number {
    let value = 0;
    for (let index = 0; index < count; index += 1, position += 1) {
      const byte = bytes[position >> 3];
      if (byte === undefined) throw new MalformedUnitError('The unit ends early');
      value = value * 2 + ((byte >> (7 - (position & 7))) & 1);
    }
    return value;
  }

  /** Reads an unsigned Exp-Golomb code (ITU-T H.264, 9.1). */
  function unsigned(): number {
    let zeros = 0;
    while (bits(1) === 0) if ((zeros += 1) > 31) throw new MalformedUnitError('A code is too long');
    return 2 ** zeros - 1 + bits(zeros);
  }

  function signed(): number {
    const code = unsigned();
    return code % 2 === 1 ? (code + 1) / 2 : -code / 2;
  }
}

/** Writer of the bits of a NAL unit. */
export type BitWriter = {
  bits(value: number, count: number): BitWriter;
  unsigned(value: number): BitWriter;
  /** Appends bytes at the next byte boundary. */
  bytes(bytes: Uint8Array): BitWriter;
  /** Ends the unit. Returns it in Annex B format, with emulation prevention. */
  end(header: number): Buffer;
};

export function createBitWriter(): BitWriter {
  let written = '';
  const writer: BitWriter = { bits, unsigned, bytes, end };
  return writer;

  function bits(value: number, count: number): BitWriter {
    if (count > 0) written += value.toString(2).padStart(count, '0');
    return writer;
  }

  function unsigned(value: number): BitWriter {
    const digits = (value + 1).toString(2);
    return bits(value + 1, 2 * digits.length - 1);
  }

  function align(): void {
    written = written.padEnd(Math.ceil(written.length / 8) * 8, '0');
  }

  function bytes(added: Uint8Array): BitWriter {
    align();
    for (const byte of added) bits(byte, 8);
    return writer;
  }

  function end(header: number): Buffer {
    bits(1, 1);
    align();
    const unit = [header];
    for (let place = 0; place < written.length; place += 8) {
      const byte = Number.parseInt(written.slice(place, place + 8), 2);
      if (byte <= 3 && unit.at(-1) === 0 && unit.at(-2) === 0) unit.push(3);
      unit.push(byte);
    }
    return Buffer.from([0, 0, 0, 1, ...unit]);
  }
}
