import { anyColor } from './vocabulary.ts';
import { plainWords } from './plain-words.ts';
import { compoundNouns, findNoun } from './nouns.ts';

/** Number as a token: `#least:2`, `#most:3`, `#exact:1`. */
const numbers = 'zero one two three four five six seven eight nine ten eleven twelve'.split(' ');
const number = `(\\d+|${numbers.join('|')}|a dozen)`;

const alertVerbs = '(?:tell|alert|notify|warn|inform|ping|message|email|text|call|remind|let)';
const triggers = '(?:when(?:ever)?|if|as soon as|once|that|every time|each time|in case|should)';

/** Phrases around a condition. They are not part of it. */
const leadIns: RegExp[] = [
  /^(?:please|pls|plz|kindly|hey|hi|ok|hello|also|and)\b[ ,]*/,
  new RegExp(`^(?:could|can|would|will) you(?: please| kindly)? (?=${alertVerbs}\\b)`),
  new RegExp(`^i would like to be (?:told|alerted|notified|informed|warned) ${triggers} `),
  new RegExp(
    `^(?:just |only |always )?${alertVerbs}(?: me| us| know| immediately| right away| someone)* (?:only )?${triggers} `,
  ),
  new RegExp(
    `^(?:send|raise|trigger|give|sound|create)(?: me| us)?(?: an?)? (?:alert|alarm|notification|message|warning|event) ${triggers} `,
  ),
  new RegExp(
    `^i (?:want|would like|need|wish)(?: you)? to (?:know|be told|be alerted|be notified|be informed|tell me|see) (?:${triggers} )?`,
  ),
  /^(?:check|detect|see|verify|look|watch|monitor|find out|determine|make sure|ensure|report|say|recogni[sz]e|spot|trigger|alert|notify)(?: out)?(?: for| if| whether| when| that| on)? (?!is\b|are\b)/,
  /^(?:can|do|could|did) (?:you|we|i) (?:see|detect|find|spot|notice) /,
  new RegExp(`^${triggers} `),
  /^(?:is|are) (?=there )/,
  /^(?:you|we|i) can see /,
  /^(?:the |my |our )?(?:camera|picture|video|image|frame|scene|screen|view|stream) (?:shows?|sees?|contains?|has|have|includes?) /,
];

const replacements: [RegExp, string][] = [
  [/&&/g, ' and '],
  [/\|\|/g, ' or '],
  [/(^|[\s(])!(?=\w)/g, '$1not '],
  [/\bhalf a dozen\b/g, '6'],
  [/[≥]|>=/g, ' at least '],
  [/[≤]|<=/g, ' at most '],
  [/>/g, ' more than '],
  [/</g, ' less than '],
  [
    /^(?:the )?(?:number|count) of ([a-z ]+?)(?: is| are)? (?=more|less|fewer|greater|at (?:least|most)|exactly)/g,
    '$1 ',
  ],
  [/^([a-z ]+?) (more than|less than|fewer than|greater than|at least|at most|exactly) +(\d+)$/g, '$2 $3 $1'],
  // "2 people or more" is "2 or more people".
  [new RegExp(`\\b${number} ((?:[a-z]+ ){1,2})or (more|less|fewer)\\b(?! than)`, 'g'), '$1 or $3 $2'],
  [/[;:]/g, ','],
  [/[.!?]\s+(?=\S)/g, ' , '],
  [/\s[&+]\s/g, ' and '],
  [/\//g, ' or '],
  [/\bi['’]?d like\b/g, 'i would like'],
  [new RegExp(`\\b${number} or so\\b`, 'g'), 'about $1'],
  [/\btheres\b/g, 'there is'],
  [/\bteh\b/g, 'the'],
  [/\b(?:hi|high)[- ]?vi[sz](?:ibility)?\b/g, 'hivis'],
  [/\bcannot\b|\bcan['’]t\b/g, 'can not'],
  [/\b(?:you|we|i) can not (?:see|find|detect)\b/g, 'no'],
  [/\bany ?more\b(?! than)/g, ''],
  [/\bno more (?!than)/g, 'no '],
  [/\bno (\S+) left\b/g, 'no $1'],
  [/\bstill (?=there|here|in|at|on|near|visible|present|parked|standing|waiting)/g, ''],
  [/(\d)\s*[-–]\s*(\d)/g, '$1 to $2'],
  [/(?<=[a-z])-(?=[a-z])/g, ' '],
];

const phrases: [RegExp, string][] = [
  // Clothes that cover a part of a person: their color is judged, what they are is not.
  [
    new RegExp(
      `(?<!\\bnot )\\b(?:(?:is|are) )?(?:wearing|dressed in|clad in|in|with) (?:an? |the )?(${anyColor}) ` +
        '(?:hivis |safety |reflective |work ){0,2}(vests?|jackets?|coats?|raincoats?|shirts?|t shirts?|hoodies?|sweaters?|jumpers?|pullovers?|suits?|dress|dresses|uniforms?|overalls)\\b',
      'g',
    ),
    'in $1 worn_$2',
  ],
  // Only with a bare color: "wearing a red jacket" is not a person in red, and "in a helmet" would be a place.
  [
    /(?<!\bnot )\b(?:(?:is|are) )?(?:wearing|dressed in|clad in)(?= (?:(?:all|only) )?(?:red|orange|yellow|green|blue|purple|pink|brown|white|gr[ea]y|black)(?:$| ,| (?:is|are|and|enters|stands)\b))/g,
    'in',
  ],
  [/\b(?:anyone|anybody|nobody|no ?one|everyone|everybody|someone|somebody|anything|all) but\b/g, 'except'],
  [/\bcan not be (?:seen|found|detected|made out)\b/g, 'is gone'],
  [/\b(?:has|have|had) (?:gone|disappeared|vanished)\b/g, 'is gone'],
  [/\b(?:has|have|had|is|are) (?:now )?left(?= (?:the|our|my|this)\b|$| ,)/g, 'has_left'],
  [/\bno ?one\b|\bnobody\b|\bnot (?:anyone|anybody|a single person|a soul)\b/g, 'no person'],
  [/\b(?:someone|somebody|anyone|anybody)\b/g, 'a person'],
  [/\bnot any\b|\bnot a single\b|\bnot one\b|\bnone of (?:the|my|our|these|those)\b/g, 'no'],
  [/\b(?:one|any|some) of (?:the|my|our|these|those)\b/g, 'a'],
  [/\b(?:a couple of|a pair of|several|multiple|various|a number of)\b/g, '#least:2'],
  [
    /\b(?:everyone|everybody|all (?:of )?(?:the )?(?:people|persons)) (?:are |is )?(?:gone|has_left)(?= (?:the|our|my|this)\b)/g,
    'no person is in',
  ],
  [
    /\b(?:everyone|everybody|all (?:of )?(?:the )?(?:people|persons)) (?:are |is )?(?:gone|has_left)\b/g,
    'no person is there',
  ],
  [/\bboth (?:of )?(?:the |my |our )?(?=(?:\w+s|people|men|women|children)\b(?! and\b))/g, '#least:2 '],
  [
    new RegExp(
      `\\bbetween ${number} and ${number}\\b|\\b${number} to ${number}\\b|\\b(?:either )?${number} or ${number}\\b`,
      'g',
    ),
    '#range',
  ],
  [new RegExp(`\\b(?:more than|over|above|greater than|exceeds?) ${number}\\b`, 'g'), '#more'],
  [new RegExp(`\\b(?:less than|fewer than|under|below) ${number}\\b`, 'g'), '#less'],
  [new RegExp(`\\b(?:at most|up to|maximum of|a maximum of|maximum) ${number}\\b`, 'g'), '#most'],
  [new RegExp(`\\b(?:at least|minimum of|a minimum of|minimum) ${number}\\b`, 'g'), '#least'],
  [new RegExp(`\\b(?:exactly|precisely|only|just) ${number}\\b`, 'g'), '#exact'],
  [new RegExp(`\\b${number} or (?:more|above|over)\\b`, 'g'), '#least'],
  [new RegExp(`\\b${number} or (?:less|fewer|below)\\b`, 'g'), '#most'],
  [
    /\b(?:lots of|a lot of|plenty of|a group of|groups of|a crowd of|crowds of|a bunch of|dozens of|hundreds of|a herd of|a flock of|a queue of|a line of|too many|so many|many|too few|very few|a few|few|most of|(?<!at )most|all of|all|every|each|half of|half)(?= )/g,
    'vague_number',
  ],
  [/\b(an?|the|one) orange(?=$| ,| (?:is|on|in|lies)\b)/g, '$1 orange_fruit'],
  [/\ba single\b/g, '#exact:1'],
  [/\bjust (?=an?\b)/g, 'only '],
  [/\b(?:other|further|additional|extra)\b/g, 'further_ones'],
  [/\b(?:to|on|at) the (left|right) of\b/g, '$1_of'],
  [/\b(?:shows?|turns?|pulls?) up\b/g, 'appears'],
  [
    /\b(?:in|into|within|on) (?:the )?(?:picture|view|sight|frame|image|scene|video|camera|screen)\b/g,
    'visible',
  ],
  [/\b(?:are|is) there\b/g, 'there is'],
];

const trailers = [
  new RegExp(
    `(?:,|\\bthen\\b|,? and) ?(?:then |please |also ){0,3}${alertVerbs} (?:me|us|know|someone|the|my|him|her|immediately)\\b.*`,
  ),
  /(?:,|\bthen\b|,? and) ?(?:then |please ){0,3}(?:send|raise|trigger|sound|give|create) (?:me |us )?(?:an? |the )?(?:alert|alarm|notification|message|warning|email)\b.*/,
  /,? (?:please|thanks|thank you)$/,
];

/** Times and durations, which no check sees: "for more than 5 minutes", "8 o'clock". */
const times = new RegExp(
  `\\b(?:(?:for|longer than|more than|less than|at least|at most|about|over|under|within|every) ){0,3}(?:${number}|an?|several|many|a few) (?:seconds?|secs?|minutes?|mins?|hours?|days?|weeks?|months?|am|pm|o clock)\\b`,
  'g',
);

/** Prepositions of several words. */
const prepositions = /\b(?:in front of|next to|on top of|close to|inside of|outside of)\b/g;

function joinWords(found: string): string {
  return found.replaceAll(' ', '_');
}

/** Returns the tokens of a sentence: words, nouns of several words joined by "_", numbers as `#least:2`, and commas. */
export function plainSentence(text: string): string {
  let sentence = text.toLowerCase().replaceAll(/\s+/g, ' ').trim();
  for (const [phrase, word] of replacements) sentence = sentence.replaceAll(phrase, word);
  sentence = withPossession(sentence);
  sentence = plainWords(sentence);
  for (let before = ''; before !== sentence;) {
    before = sentence;
    for (const leadIn of leadIns) sentence = sentence.replace(leadIn, '');
  }
  for (const trailer of trailers) sentence = sentence.replace(trailer, '');
  for (const several of [compoundNouns, times, prepositions])
    sentence = sentence.replaceAll(several, joinWords);
  for (const [phrase, word] of phrases)
    sentence = sentence.replaceAll(phrase, (_found, ...groups) => counted(word, groups.slice(0, -2)));
  return withJoinedColors(withCounts(sentence)).replaceAll(/\s+/g, ' ').trim();
}

/** "The dog's bowl" is no dog, "the dog's here" is one. */
function withPossession(sentence: string): string {
  return sentence.replaceAll(/(?<!\p{L})(\p{L}+)['’]s (\p{L}+)/gu, (found, owner: string, next: string) =>
    findNoun(owner) !== null &&
    !/^(?:in|at|on|a|an|the|not|here|there|now|near|inside|outside|gone|by|behind|visible)$/.test(next)
      ? `${owner} possession ${next}`
      : found,
  );
}

function counted(word: string, groups: unknown[]): string {
  if (!/^#(?:range|more|less|most|least|exact)$/.test(word)) {
    return word.replaceAll(/\$([12])/g, (_, at) => {
      const group = groups[Number(at) - 1];
      return typeof group === 'string' ? group.replaceAll(' ', '_') : '';
    });
  }
  const values = groups.flatMap((group) => (typeof group === 'string' ? [toNumber(group)] : []));
  const [first = 0, second = first] = values;
  if (word === '#range') return `#least:${Math.min(first, second)} #most:${Math.max(first, second)}`;
  if (word === '#more') return `#least:${first + 1}`;
  if (word === '#less') return `#most:${first - 1}`;
  return `${word}:${first}`;
}

/** A bare number before a noun means at least so many. "One" alone is an article. */
function withCounts(sentence: string): string {
  return sentence
    .split(' ')
    .map((word) =>
      /^\d+$/.test(word) || (word !== 'one' && numbers.includes(word)) ? bareNumber(toNumber(word)) : word,
    )
    .join(' ')
    .replaceAll(/\ba dozen\b/g, '#least:12');
}

function bareNumber(value: number): string {
  return value === 0 ? 'no' : `#least:${value}`;
}

function toNumber(word: string): number {
  if (word === 'a dozen') return 12;
  const at = numbers.indexOf(word);
  return at === -1 ? Number(word) : at;
}

/** "Red or blue" before a noun is one choice. Two colors of one object are not understood. */
function withJoinedColors(sentence: string): string {
  const several = new RegExp(`\\b(?:${anyColor})(?:(?: ,)? or (?:a |an )?(?:${anyColor}))+\\b(?! ,)`, 'g');
  const both = new RegExp(`\\b(?:${anyColor}) and (?:${anyColor})(?= \\w)`, 'g');
  return sentence
    .replaceAll(several, (found) => found.replaceAll(/(?: ,)? or (?:an? )?/g, '|'))
    .replaceAll(both, 'two_colors');
}
