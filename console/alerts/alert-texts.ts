/** Sentence at the end of each explanation of the built-in model. */
const disclosure = / ?Judged by the built-in model, which is not a vision-language model\.$/;

/** Returns an explanation for a card, on which the same sentence about the model would be read at each alert. */
export function withoutDisclosure(explanation: string): string {
  return explanation.replace(disclosure, '');
}

/** Returns where a clip shows the opening: no `seconds` to go to in a clip that begins later. */
export function findOpening(openedAt: string, from: string): { text: string; seconds: number | null } {
  const seconds = (Date.parse(openedAt) - Date.parse(from)) / 1000;
  if (seconds < -1) return { text: `Begins ${Math.round(-seconds)} s after the opening`, seconds: null };
  const shown = Math.max(0, seconds);
  return { text: `Opening at ${Math.round(shown)} s`, seconds: shown };
}
