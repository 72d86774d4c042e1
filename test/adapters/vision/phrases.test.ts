import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { advise } from '../../../core/advice/advise.ts';
import { splitTimes } from '../../../core/advice/times.ts';
import { type Condition, decide } from '../../../adapters/vision/condition/condition.ts';
import { parseCondition } from '../../../adapters/vision/condition/parse-condition.ts';
import { modelThatSees } from './objects/model-that-sees.ts';

/** Phrases with what the built-in model makes of them; the file explains the notation. */
const phrases = readFileSync(new URL('phrases.txt', import.meta.url), 'utf8')
  .split('\n')
  .filter((line) => line.includes(' => '))
  .map((line) => /^(?<phrase>.*) => (?<meaning>.*)$/.exec(line)?.groups ?? {})
  .map(({ phrase = '', meaning = '' }) => ({ phrase, meaning }));

const { model } = modelThatSees([]);
const { readCondition } = model.capabilities;

/** Formats a condition: "person>=2 & !car:red". */
function shortCondition(condition: Condition): string {
  const inner = (part: Condition) =>
    part.kind === 'all' || part.kind === 'any' ? `(${shortCondition(part)})` : shortCondition(part);
  switch (condition.kind) {
    case 'not':
      return `!${inner(condition.part)}`;
    case 'all':
      return condition.parts
        .map((part) => (part.kind === 'any' ? inner(part) : shortCondition(part)))
        .join(' & ');
    case 'any':
      return condition.parts.map(shortCondition).join(' | ');
    case 'objects': {
      const { classes, colors, compare, count } = condition;
      const color = colors.length === 0 ? '' : `:${colors.join('/')}`;
      const limit = compare === 'at most' ? `<=${count}` : count === 1 ? '' : `>=${count}`;
      return `${classes.join('/')}${color}${limit}`;
    }
    case 'share': {
      const signs = { 'at least': '>=', 'more than': '>', 'at most': '<=', 'less than': '<' };
      return `${condition.color}${signs[condition.compare]}${Math.round(condition.share * 100)}%`;
    }
    case 'region':
      return `${condition.color}#${condition.share * 100}%`;
    case 'unmeasurable':
      return '?';
    default:
      return condition.kind;
  }
}

function shortMeaning(phrase: string): string {
  const { condition } = parseCondition(phrase);
  const short = condition === null ? '' : shortCondition(condition);
  const canHold = readCondition(phrase).reasonNotToJudge === null;
  const parts = new Map<string, string[]>();
  for (const { words, kind, countsAs } of readCondition(phrase).unjudgedParts) {
    const name = countsAs === undefined ? kind : `any ${countsAs}`;
    parts.set(name, [...(parts.get(name) ?? []), words]);
  }
  const { span } = splitTimes(phrase);
  const days = span === null || span.days.length === 7 ? '' : `${span.days.join(' ')} `;
  return [
    canHold ? short : `never ${short}`.trim(),
    ...[...parts].map(([name, words]) => `${name}: ${words.join(', ')}`),
    ...(span === null ? [] : [`schedule: ${days}${span.from}-${span.to}`]),
  ].join('; ');
}

test('the table has more than 400 phrases, each once', () => {
  const names = phrases.map(({ phrase }) => phrase);
  expect(names.length).toBeGreaterThan(400);
  expect(new Set(names).size).toBe(names.length);
});

test.each(phrases)('the phrase "$phrase" is read as $meaning', ({ phrase, meaning }) => {
  expect(shortMeaning(phrase)).toBe(meaning);
});

test.each(phrases)('the advice on "$phrase" names each part that is not judged', ({ phrase }) => {
  const messages = advise(phrase, model.capabilities)
    .findings.map(({ message }) => message)
    .join('\n');
  for (const { words } of readCondition(phrase).unjudgedParts) expect(messages).toContain(words);
});

test.each(phrases)('a phrase is judged, or the words that prevent it are named: "$phrase"', ({ phrase }) => {
  const isJudged = readCondition(phrase).reasonNotToJudge === null;
  expect(isJudged || parseCondition(phrase).notJudged.length > 0).toBe(true);
});

// Beside an alternative that holds, a word changes nothing; "tell me blorps" is a request.
const alone = phrases.filter(
  ({ phrase, meaning }) =>
    !/\||^never(?:;|$)/.test(meaning) && !/ me$|immediately|alert$|thanks$|when it| or the /.test(phrase),
);
test.each(alone)('an unknown word after "$phrase" never lets it trigger', ({ phrase }) => {
  const { condition } = parseCondition(`${phrase.replace(/[.?]$/, '')} blorps`);
  for (const holds of [true, false]) {
    const decidePart = ({ kind }: { kind: string }) => (kind === 'unmeasurable' ? null : holds);
    expect(condition === null ? null : decide(condition, decidePart)).not.toBe(true);
  }
});

test.each([
  'eine Person ist an der Tür',
  'une personne est à la porte',
  'una persona está en la puerta',
  'een persoon staat voor de deur',
  'человек у двери',
  '有人在门口',
])('the sentence "%s" of another language never triggers, and its words are named', (phrase) => {
  expect(readCondition(phrase).reasonNotToJudge).toMatch(/English sentences, not '/);
});
