import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { advise } from '../../../core/advice/advise.ts';
import { splitTimes } from '../../../core/advice/times.ts';
import type { Condition } from '../../../adapters/vision/condition/condition.ts';
import { modelThatSees } from './objects/model-that-sees.ts';
import { shortCondition } from './objects/short-condition.ts';
import { parseCondition } from '../../../adapters/vision/condition/parse-condition.ts';

/** Phrases of owners with what the object model makes of them; the file explains the notation. */
const phrases = readFileSync(new URL('phrases.txt', import.meta.url), 'utf8')
  .split('\n')
  .filter((line) => line.includes(' => '))
  .map((line) => line.split(' => '))
  .map(([phrase = '', meaning = '']) => ({ phrase, meaning }));

const { model } = modelThatSees([]);

function shortMeaning(phrase: string): string {
  const condition: Condition | null = parseCondition(phrase).condition;
  const canHold = model.reasonNotToJudge?.(phrase) === undefined;
  const parts = new Map<string, string[]>();
  for (const { words, kind, countsAs } of model.unjudgedParts?.(phrase) ?? []) {
    const name = countsAs === undefined ? kind : `any ${countsAs}`;
    parts.set(name, [...(parts.get(name) ?? []), words]);
  }
  const { span } = splitTimes(phrase);
  return [
    canHold && condition !== null ? shortCondition(condition) : 'never',
    ...[...parts].map(([name, words]) => `${name}: ${words.join(', ')}`),
    ...(span === null
      ? []
      : [`schedule: ${span.days.length === 7 ? '' : `${span.days.join(' ')} `}${span.from}-${span.to}`]),
  ].join('; ');
}

describe('phrases of owners', () => {
  test('the table has at least 200 phrases, each once', () => {
    expect(phrases.length).toBeGreaterThanOrEqual(200);
    expect(new Set(phrases.map(({ phrase }) => phrase)).size).toBe(phrases.length);
  });

  test.each(phrases)('the phrase "$phrase" is read as $meaning', ({ phrase, meaning }) => {
    expect(shortMeaning(phrase)).toBe(meaning);
  });

  test.each(phrases)('the advice on "$phrase" names each part that is not judged', ({ phrase }) => {
    const messages = advise(phrase, model)
      .findings.map(({ message }) => message)
      .join('\n');
    for (const { words } of model.unjudgedParts?.(phrase) ?? []) expect(messages).toContain(words);
  });
});
