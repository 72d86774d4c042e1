import { anyColor, lightsOff, lightsOn } from './vocabulary.ts';

/** Replacements of phrases by words of the grammar, applied in this order. */
const replacements: [RegExp, string][] = [
  [/[’`]/g, "'"],
  [/n't\b/g, ' not'],
  [/\b(is|are|was|were|do|does|did|has|have|had)nt\b/g, '$1 not'],
  [/'s\b/g, ' is'],
  [/\bper ?cent\b/g, '%'],
  [/(\d),(\d)/g, '$1.$2'],
  [/(\d)\s+%/g, '$1%'],
  [/\bat all\b/g, ' '],
  [/\bno (?:less|fewer) than\b/g, 'at least'],
  [/\b(?:not|no) (?:more|greater) than\b/g, 'at most'],
  [/\bno longer\b/g, 'not'],
  [/\bnothing (?:but|else than)\b/g, 'only'],
  [/\bno (?:picture|image|signal)\b/g, 'blank'],
  [new RegExp(`\\bfrom (?:${anyColor}) (?=(?:in)?to (?:${anyColor})\\b)`, 'g'), ''],
  [
    new RegExp(`\\b(?:turn|change|switch|go)(?:s|es|ed|ing)? (?:in)?to (?=(?:${anyColor})\\b)`, 'g'),
    'becomes ',
  ],
  [lamp('off|out'), `${lightsOff} $1`],
  [lamp('on'), `${lightsOn} $1`],
  [/\b(?:is|are|stands?|stood|stays?|remains?|keeps?) (?:very |completely )?still\b/g, 'motionless'],
  [new RegExp(`\\b(?:dark|light|bright|deep|pale|strong) (?=(?:${anyColor})\\b)`, 'g'), ''],
  [/\b(is|gets|becomes|be) light\b(?! \w+(?:ed|ing)\b)/g, '$1 bright'],
];

/** Matches "the lights are not on", but not "a red light is on", which is a red region, and not "the light is on the left". */
function lamp(state: string): RegExp {
  const between = `(?!(?:and|or|but|while|when|if|${anyColor})\\b)\\w+ `;
  return new RegExp(
    `(?<!\\b(?:${anyColor}) )\\blights? ((?:${between}){0,5}?)(?:${state})\\b(?! (?:the|an?|my|our|this|that|top|it)\\b)`,
    'g',
  );
}

/** Normalizes a text to words of the grammar: lower case, without punctuation except commas. */
export function plainWords(text: string): string {
  const plain = replacements.reduce(
    (words, [phrase, word]) => words.replaceAll(phrase, word),
    text.toLowerCase(),
  );
  return plain
    .replaceAll(/[^\p{L}\p{N}%.,\s-]/gu, ' ')
    .replaceAll(/\.(?!\d)/g, ' ')
    .replaceAll(/(?<!\d),|,(?!\d)/g, ' , ')
    .replaceAll(/\s+/g, ' ')
    .trim();
}
