/** Sentence at the end of each explanation of the built-in model. */
const disclosure = / ?Judged by the built-in model, which is not a vision-language model\.$/;

/** Returns an explanation for a card, on which the same sentence about the model would be read at each alert. */
export function withoutDisclosure(explanation: string): string {
  return explanation.replace(disclosure, '');
}
