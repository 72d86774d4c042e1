const maxStemLength = 40;

/** Returns the distinct words of a text as both hosts store and look them up: letters and digits without case and accents. */
export function toStems(text: string): string[] {
  const words =
    text
      .normalize('NFKD')
      .replaceAll(/\p{M}/gu, '')
      .toLowerCase()
      .match(/[\p{L}\p{N}]+/gu) ?? [];
  return [...new Set(words.map((word) => word.slice(0, maxStemLength)))];
}
