import { compoundNouns } from './nouns.ts';
import { anyColor } from './vocabulary.ts';

const numbers = 'zero one two three four five six seven eight nine ten eleven twelve'.split(' ');
const placeholders: [name: RegExp, expression: string][] = [
  [/COLOR/g, `(${anyColor})`],
  [/VIEW/g, '(?:the |my |our )?(?:picture|image|frame|video|scene|view|sight|screen|camera)'],
  [/NUMBER/g, `(\\d+|${numbers.join('|')}|half a dozen|a dozen)`],
  [/END/g, '(?=$| ,| (?:is|are|and|or|at|on|in|near)\\b)'],
];

/**
 * Spellings and phrases by words of the vocabulary, replaced in this order, with spaces around. Of clothes, the color
 * is judged, and not what they are.
 */
const replacements = String.raw`
\b(is|are|was|were|do|does|did|has|have|had)nt\b => $1 not
\bcan(?:'t|not)\b => can not
n't\b => not
\bi'?d like\b => i want
\b(there|it|that|who|here|\w*one|\w*body)'?s(?= ) => $1 is
's (?=(?:in|at|on|an?|the|not|here|there|now|near|inside|outside|gone|by|behind)\b) => is
(?<!\d)(\d+(?:\.\d+)?) ?(?:%|per ?cent\b) => $1%
[;:]|[.!?]\s+(?=\S) => ,
('s) |([<>=≤≥|&]+) => $1$2
!(?=\w) => not
\/ => or
(?<=[a-z])-(?=[a-z]) => 
(?<!\d),|,(?!\d) => ,
[^\p{L}\p{N}%.,'<>=≤≥|&\s–-]|\.(?!\d) => 
\bhi(?:gh)? vi[sz](?:ibility)?\b => hivis
\b(?:(?:you|we|i) )?(?:can )?not (?:see|find|detect|any|a single)\b|\bnone of (?:the|my|our)\b => no
\bno longer\b => not
\bno more (?!than) => no
\bno (\S+) left\b => no $1
\bnor\b => and no
\bbut(?= (?:no|not)\b) => and
\b(?:at all|any ?more(?! than))\b => 
(?<=(?:one|body|thing|all) )but\b => except
\bnothing except\b => only
\bno ?one\b|\bnobody\b => no person
\b(?:someone|somebody|anyone|anybody)\b => a person
\b(?:has|have|had|is|are) (?:now )?left(?= (?:the|our|my)\b|$| ,) => has_left
\b(?:shows?|turns?) up\b => appears
\b(?:stands?|stays?|is|are) still\b(?! \w) => motionless
\b(?:dark|light|bright|pale) (?=COLOR\b) => 
\b(is|gets|becomes) light\b => $1 bright
(?<!\bCOLOR )\blights? (?:(?:is|are|went|go|gone|turned|switched) )*(?:off|out)\b => lights_off
\b(COLOR lights?) (?:is|are) on\b(?! (?:the|an?)\b) => $1
\b(an?|the|one) orange(?=$| ,| (?:is|on|in|lies)\b) => $1 orange_fruit
(?<!\bnot )\b(?:(?:is|are) )?(?:wearing|dressed in|in|with) (?:an? |the )?COLOR(?:END| (?:hivis |safety )*(vest|jacket|coat|shirt|hoodie|sweater|suit|dress|uniform)s?\b) => clad:$1 worn_$2
\bCOLOR one\b => $1_one
\bCOLOR(?: ,)? n?or (?:an? )?COLOR\b(?! and\b) => $1|$2
\bCOLOR and COLOR (?!is|are|appear)(?=\w) => $1_and_$2
\bNUMBER ((?:[a-z]+ ){1,2})or (more|less|fewer)\b(?! than) => $1 or $3 $2
\bhalf(?= (?:of )?VIEW) => 50%
\b(?:not? more than|at most|up to) (\d[\d.]*)% => at_most:$1
\b(?:more than|over|above|exceeds) (\d[\d.]*)% => more_than:$1
\b(?:less than|fewer than|under|below) (\d[\d.]*)% => less_than:$1
\b(?:(?:at least|minimum) )?(?<![\d.:])(\d[\d.]*)% => at_least:$1
\b(?:in|into|within|on|of|from) VIEW\b => in_view`;

const rules = replacements
  .trim()
  .split('\n')
  .map((line) => line.split(/ => ?/))
  .map(([phrase = '', word = '']): [RegExp, string] => [toExpression(phrase), ` ${word} `]);

/** Numbers of objects: "#2-" is at least two, "#0-3" at most three. */
const counts: [phrase: string, limit: (first: number, second: number) => string][] = [
  [
    'between NUMBER and NUMBER|(?:either )?NUMBER ?(?:to|or|-|–) ?NUMBER',
    (first, second) => `#${first}-${second}`,
  ],
  [
    'not? (?:more|greater) than NUMBER|at most NUMBER|up to NUMBER|maximum(?: of)? NUMBER|NUMBER or (?:less|fewer)',
    (most) => `#0-${most}`,
  ],
  [
    'not? (?:less|fewer) than NUMBER|at least NUMBER|minimum(?: of)? NUMBER|NUMBER or more',
    (least) => `#${least}-`,
  ],
  ['(?:more|greater) than NUMBER|over NUMBER|above NUMBER', (less) => `#${less + 1}-`],
  ['(?:less|fewer) than NUMBER|under NUMBER|below NUMBER', (more) => `#0-${more - 1}`],
  ['(?:exactly|precisely|only|just) NUMBER', (exact) => `#${exact}-${exact}`],
  ['a single', () => '#1-1'],
  ['(?:a couple of|a pair of|several|multiple)', () => '#2-'],
  ['(?!one)NUMBER', (least) => (least === 0 ? 'no' : `#${least}-`)],
];

const limits = counts.map(
  ([phrase, limit]) => [toExpression(`(?<![\\w#:.\\-])(?:${phrase})(?![\\w\\-])`), limit] as const,
);

/** Phrases that are one token: nouns, durations, which no check sees, and prepositions. */
const phrases = [
  compoundNouns,
  toExpression(
    '\\b(?:(?:for|longer than|more than|less than|at least|about|over|within|every) ){0,3}(?:NUMBER|an?|many) (?:second|minute|hour|day|week)s?\\b',
  ),
  /\b(?:in front of|next to|on top of|close to)\b/g,
];

function toExpression(phrase: string): RegExp {
  const filled = placeholders.reduce((text, [name, expression]) => text.replaceAll(name, expression), phrase);
  return new RegExp(filled, 'gu');
}

/** Returns the tokens of a sentence: its words, with "_" between those of one noun, numbers as "#2-", and commas. */
export function readTokens(text: string): string[] {
  let sentence = text.toLowerCase().replaceAll(/[’`]/g, "'");
  for (const [phrase, word] of rules)
    sentence = sentence.replaceAll(phrase, word).replaceAll(/\s+/g, ' ').trim();
  for (const phrase of phrases) sentence = sentence.replaceAll(phrase, (nouns) => nouns.replaceAll(' ', '_'));
  for (const [phrase, limit] of limits)
    sentence = sentence.replaceAll(phrase, (...matched) => {
      const groups = matched.slice(1, -2).filter((group) => typeof group === 'string');
      const [first = 0, second = 0] = groups.map(toNumber);
      return limit(first, second);
    });
  return sentence.split(' ').filter((token) => token !== '' && token !== 'worn_');
}

function toNumber(word: string): number {
  if (word.endsWith('dozen')) return word === 'a dozen' ? 12 : 6;
  return numbers.includes(word) ? numbers.indexOf(word) : Number(word);
}
