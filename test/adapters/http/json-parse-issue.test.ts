import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { findJsonParseIssue } from '../../../adapters/http/json-parse-issue.ts';

/** `validation-messages.test.ts` compares words and positions with those of Python. */

test('an error is found in any JSON that loses, gains or changes a character', () => {
  const damaged = fc
    .tuple(
      fc.json({ maxDepth: 4 }),
      fc.nat(),
      fc.nat({ max: 2 }),
      fc.constantFrom(...Array.from('{}[]",:\\u0e-+.\n x😀')),
    )
    .map(([json, at, removed, added]) => {
      const from = at % (json.length + 1);
      return json.slice(0, from) + added + json.slice(from + removed);
    });
  fc.assert(
    fc.property(damaged, (text) => {
      if (isJson(text)) return;
      const { position, reason } = findJsonParseIssue(text);
      expect(position).toBeLessThanOrEqual(Array.from(text).length);
      expect(reason).toMatch(/^(Expecting|Extra data|Invalid|Unterminated)/);
      // The text before the position is a prefix of valid JSON, so the error is not earlier.
      if (reason === 'Extra data') expect(isJson(Array.from(text).slice(0, position).join(''))).toBe(true);
    }),
    { numRuns: 3000 },
  );
});

test('a million open brackets are scanned without an overflow', () => {
  expect(findJsonParseIssue('['.repeat(1_000_000))).toEqual({
    position: 1_000_000,
    reason: 'Expecting value',
  });
  expect(findJsonParseIssue('{"a":'.repeat(300_000))).toMatchObject({ position: 1_500_000 });
});

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}
