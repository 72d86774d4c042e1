import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { advise } from '../../../core/advice/advise.ts';
import { splitTimes } from '../../../core/advice/times.ts';
import type { Condition } from '../../../adapters/vision/condition/condition.ts';
import { foreignLanguage } from '../../../adapters/vision/condition/languages.ts';
import { decide } from '../../../adapters/vision/condition/logic.ts';
import { parseCondition, parseMeasurements } from '../../../adapters/vision/condition/parse-condition.ts';
import { createPixelVision } from '../../../adapters/vision/pixel/pixel-vision.ts';
import { modelThatSees } from './objects/model-that-sees.ts';

/** Phrases with what the built-in models make of them; the file explains the notation. */
const lines = readFileSync(new URL('phrases.txt', import.meta.url), 'utf8')
  .split('\n')
  .filter((line) => line.includes(' => '))
  .map((line) => /^(?<pixel>pixel: )?(?<phrase>.*) => (?<meaning>.*)$/.exec(line)?.groups ?? {})
  .map(({ pixel, phrase = '', meaning = '' }) => ({ phrase, meaning, model: pixel ? 'pixel' : 'objects' }));
const phrases = lines.filter(({ model }) => model === 'objects');

const { model: objects, decoder } = modelThatSees([]);
const models = {
  objects: { ...objects, parse: parseCondition },
  pixel: { ...createPixelVision({ decoder }), parse: parseMeasurements },
};

/** Formats a condition: "person>=2 & !car:red". */
function shortCondition(condition: Condition): string {
  const inner = (part: Condition) =>
    part.kind === 'all' || part.kind === 'any' ? `(${shortCondition(part)})` : shortCondition(part);
  switch (condition.kind) {
    case 'not':
      return `!${inner(condition.of)}`;
    case 'all':
      return condition.of
        .map((part) => (part.kind === 'any' ? inner(part) : shortCondition(part)))
        .join(' & ');
    case 'any':
      return condition.of.map(shortCondition).join(' | ');
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

function shortMeaning(phrase: string, model: 'objects' | 'pixel'): string {
  const { parse, reasonNotToJudge, unjudgedParts } = models[model];
  const { condition } = parse(phrase);
  const short = condition === null ? '' : shortCondition(condition);
  const canHold = reasonNotToJudge?.(phrase) === undefined;
  const parts = new Map<string, string[]>();
  for (const { words, kind, countsAs } of unjudgedParts?.(phrase) ?? []) {
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

describe('phrases of owners', () => {
  test('the table has more than 400 phrases, each once', () => {
    const names = lines.map(({ phrase, model }) => `${model} ${phrase}`);
    expect(names.length).toBeGreaterThan(400);
    expect(new Set(names).size).toBe(names.length);
  });

  test.each(lines)('the phrase "$phrase" is read by the model $model as $meaning', (line) => {
    expect(shortMeaning(line.phrase, line.model === 'pixel' ? 'pixel' : 'objects')).toBe(line.meaning);
  });

  test.each(phrases)('the advice on "$phrase" names each part that is not judged', ({ phrase }) => {
    const messages = advise(phrase, objects)
      .findings.map(({ message }) => message)
      .join('\n');
    for (const { words } of objects.unjudgedParts?.(phrase) ?? []) expect(messages).toContain(words);
  });

  // Beside measurements, unknown words are ignored; "tell me blorps" is a request.
  const alone = phrases.filter(
    ({ phrase, meaning }) =>
      parseCondition(phrase).namesObjects &&
      !/\||^never(?:;|$)/.test(meaning) &&
      !/ me$|immediately|alert$| or the /.test(phrase),
  );
  test.each(alone)('an unknown word after "$phrase" never lets it trigger', ({ phrase }) => {
    const { condition } = parseCondition(`${phrase.replace(/[.?]$/, '')} blorps`);
    for (const holds of [true, false]) {
      const decidePart = ({ kind }: { kind: string }) => (kind === 'unmeasurable' ? null : holds);
      expect(condition === null ? null : decide(condition, decidePart)).not.toBe(true);
    }
  });
});

describe('foreignLanguage', () => {
  test.each([
    ['eine Person ist an der Tür', 'German'],
    ['une personne est à la porte', 'French'],
    ['una persona está en la puerta', 'Spanish'],
    ['een persoon staat voor de deur', 'Dutch'],
    ['человек у двери', 'another language'],
    ['有人在门口', 'another language'],
    ['a person is at the door', null],
    ['no person in the café', null],
    ['red', null],
  ])('the language of "%s" is detected as %s', (text, language) => {
    expect(foreignLanguage(text)).toBe(language);
  });

  test('no English phrase of the table is taken for another language', () => {
    const english = phrases.filter(({ meaning }) => !/^never(?:;|$)/.test(meaning));
    expect(english.filter(({ phrase }) => foreignLanguage(phrase) !== null)).toEqual([]);
  });
});
