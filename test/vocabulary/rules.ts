/** Finding of one rule, with its position in characters from the start of the file. */
export type Finding = { rule: RuleName; offset: number; text: string };

/** Remedy of each rule, as the checker prints it. */
export const remedies = {
  'comment-opening': 'Start a docstring of a function with a verb, and any other comment with a noun.',
  'banned-phrase': 'Use the term of the glossary, or say it with subject, verb and object.',
  'comment-width': 'Break the line at 120 columns; a comment of one line becomes a block.',
  'empty-name': 'Call the value by the noun for what it holds: `match`, `visits`, `offset`, `capturedAt`.',
  'title-opening': 'Start the title with its subject: "a capture that times out is reported as failed".',
  'title-subject': 'Name the subject before the verb: the title stands alone in the report.',
  'title-fragment': 'Write a whole sentence: subject, verb, condition.',
} as const;

export type RuleName = keyof typeof remedies;
const bannedOpening = /^(?:of|what|who|whether|where|why|how|that)\b/i;

/** Banned phrases, with their inflections. */
const bannedPhrases = new RegExp(
  String.raw`\b(?:is none|are none|is told|are told|puts? away|anew|by itself|goes on|go on|comes? again|all the same|at once|ours|as it is|of before|ma[dk]es? up for|whoever|look(?:s|ed) at|ask(?:s|ed|ing)? the model|is known to|ha(?:s|ve) come)\b`,
  'gi',
);

/** Names that would fit any value. */
const emptyNames = new Set(['of', 'found', 'known', 'at']);

const titleOpening =
  /^(?:about|above|after|among|as|at|before|behind|below|beside|besides|between|beyond|by|during|for|from|in|inside|into|of|on|once|out|over|since|through|to|under|until|up|upon|when|where|while|with|within|without|that|what|which|who|whose|whom|whatever|whether|why|how)\b/i;

/**
 * A verb without a subject: an auxiliary, a verb that is no noun, or a verb in the third person before an article or
 * the like.
 */
const titleWithoutSubject =
  /^(?:(?:says|costs|refuses|ends|covers|asks|verifies|keeps|throws|fails|sends|takes|gives|makes|rejects|accepts|stays|becomes|remains|needs|leaves|loses|starts|holds|finds|gets|lets|drops|opens|closes|begins|returns|changes with|also|shorter|longer)\b|(?:is|are|was|were|has|have|had|does|do|can|cannot|may|must|will)\b|(?!this |its |his |always )[a-z]+s (?:a|an|the|its|it|each|every|no|not|nothing|none|only|all|both|whatever|what|which|who|their|them|one|two)\b)/;

/** A line of a comment beyond 120 columns that can be broken. */
const wideLine = /^.{121,}$/gm;

/** Findings of the lines of a comment, with what stands before it. `offset` is their place in these lines. */
export function checkWidth(lines: string): Finding[] {
  return (
    [...lines.matchAll(wideLine)]
      // Indented lines of a block are the options of a usage.
      .filter(([line]) => /\S\s+\S+\s+\S/.test(line) && !/^\s*\*\s{3}/.test(line))
      .map(({ 0: line, index }) => ({ rule: 'comment-width', offset: index, text: firstWords(line.trim()) }))
  );
}

/** Findings of a comment whose text is given without its delimiters. */
export function checkComment(text: string): Pick<Finding, 'rule' | 'text'>[] {
  const opening = bannedOpening.exec(text);
  return [
    ...(opening ? [{ rule: 'comment-opening' as const, text: firstWords(text) }] : []),
    ...checkPhrases(text),
  ];
}

/** Findings of the name of a value. */
export function checkName(name: string): Pick<Finding, 'rule' | 'text'>[] {
  return emptyNames.has(name) ? [{ rule: 'empty-name', text: name }] : [];
}

/** Findings of prose: strings, comments, pages. */
export function checkPhrases(text: string): Pick<Finding, 'rule' | 'text'>[] {
  return [...text.matchAll(bannedPhrases)].map(([phrase]) => ({ rule: 'banned-phrase', text: phrase }));
}

/** Finding of the title of a test, or undefined. Placeholders of `each` count as words only beside two others. */
export function checkTitle(title: string): Pick<Finding, 'rule' | 'text'> | undefined {
  const words = title.replaceAll(/%[sdifjoOp#$]|\$[\w.]+/g, '').match(/[\p{L}\p{N}]+/gu) ?? [];
  if (titleOpening.test(title)) return { rule: 'title-opening', text: title };
  if (titleWithoutSubject.test(title)) return { rule: 'title-subject', text: title };
  if (words.length < 3) return { rule: 'title-fragment', text: title };
  return undefined;
}

function firstWords(text: string): string {
  return text.split(/\s+/).slice(0, 6).join(' ');
}
