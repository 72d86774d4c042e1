import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { foreignLanguage } from '../../../../adapters/vision/condition/languages.ts';
import { parseCondition } from '../../../../adapters/vision/condition/parse-condition.ts';
import { decide } from '../../../../adapters/vision/condition/logic.ts';
import { shortCondition } from './short-condition.ts';

/** Sentences with their readings; the file explains the notation. */
const sentences = readFileSync(new URL('sentences.txt', import.meta.url), 'utf8')
  .split('\n')
  .filter((line) => line.includes(' => ') && !line.startsWith('#'))
  .map((line) => line.split(' => '))
  .map(([text = '', reading = '']) => ({ text, reading }));

function shortReading(text: string): string {
  const { condition, namesObjects } = parseCondition(text);
  if (!namesObjects) return 'pixel';
  return condition === null ? '-' : shortCondition(condition);
}

describe('parseCondition', () => {
  test('The table has more than 300 sentences, each once', () => {
    expect(sentences.length).toBeGreaterThan(300);
    expect(new Set(sentences.map(({ text }) => text)).size).toBe(sentences.length);
  });

  test.each(sentences)('"$text" is read as $reading', ({ text, reading }) => {
    expect(shortReading(text)).toBe(reading);
  });

  test.each(
    sentences.filter(
      ({ text, reading }) => !/\||pixel|^-$/.test(reading) && !/ me$|immediately|alert$| or the /.test(text),
    ),
  )('An unknown word after "$text" never lets it trigger', ({ text }) => {
    const condition = parseCondition(`${text.replace(/[.?]$/, '')} blorps`).condition;
    for (const holds of [true, false]) {
      const verdict =
        condition === null
          ? null
          : decide(condition, (part) => (part.kind === 'unmeasurable' ? null : holds));
      expect(verdict).not.toBe(true);
    }
  });

  test('Places, narrower words and unknown words are named', () => {
    expect(parseCondition('Two tall men are at the front door').notJudged).toEqual([
      { words: 'men', kind: 'narrower', countsAs: 'person' },
      { words: 'at the front door', kind: 'place' },
      { words: 'tall', kind: 'words' },
    ]);
    expect(parseCondition("the car's owner sees many people").notJudged).toContainEqual({
      words: 'an amount without a number',
      kind: 'words',
    });
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
  ])('The language of "%s" is detected as %s', (text, language) => {
    expect(foreignLanguage(text)).toBe(language);
  });

  test('No English sentence of the table is taken for another language', () => {
    const english = sentences.filter(({ reading }) => reading !== '-' && reading !== 'pixel');
    expect(english.filter(({ text }) => foreignLanguage(text) !== null)).toEqual([]);
  });
});
