const sequenceTag = '#EXT-X-MEDIA-SEQUENCE:';
const skipTag = '#EXT-X-SKIP:';

/** The largest number that an initialization vector takes has 128 bits. */
const maxDigits = 39;

/**
 * Returns the lines without media sequence number, and that of the first segment. hls-parser reads it as a double,
 * which loses digits above 2^53.
 */
export function takeMediaSequence(lines: string[]): { lines: string[]; firstSequence: bigint } {
  const firstUri = lines.findIndex((line) => !line.startsWith('#'));
  return {
    lines: lines.filter((line) => !line.startsWith(sequenceTag) && !line.startsWith(skipTag)),
    firstSequence: sequenceAfter(firstUri === -1 ? lines : lines.slice(0, firstUri)),
  };
}

/** Returns the media sequence number of the segment that follows these lines. */
export function sequenceAfter(lines: string[]): bigint {
  let segments = 0;
  let numbered = 0n;
  for (const line of lines) {
    if (!line.startsWith('#')) segments += 1;
    else if (line.startsWith(sequenceTag)) numbered += parseInteger(line.slice(sequenceTag.length));
    else if (line.startsWith(skipTag))
      numbered += parseInteger(/SKIPPED-SEGMENTS="?(\d+)/.exec(line)?.[1] ?? '');
  }
  return numbered + BigInt(segments);
}

/** Returns the tag that numbers the segment after it. */
export function mediaSequenceLine(sequence: bigint): string {
  return `${sequenceTag}${sequence}`;
}

function parseInteger(text: string): bigint {
  const digits = /^\s*(-?\d+)/.exec(text)?.[1] ?? '';
  return digits.length > maxDigits ? 0n : BigInt(digits);
}
