const opening = /^(?:who|what|where|why|how|when|was|were|did|is there|are there|has|have)\b/i;

/** Returns whether a text asks a question, rather than naming what is searched. */
export function isQuestion(text: string): boolean {
  return text.trimEnd().endsWith('?') || opening.test(text.trimStart());
}
