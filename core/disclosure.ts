/** Sentence in every answer, so that callers do not mistake the built-in model for a vision-language model. */
export const disclosure = 'Judged by the built-in model, which is not a vision-language model.';

/** Returns an explanation without that sentence, for messages that name the model apart from it. */
export function withoutDisclosure(explanation: string): string {
  return explanation.endsWith(disclosure) ? explanation.slice(0, -disclosure.length).trim() : explanation;
}
