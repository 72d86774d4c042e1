import { expect, test } from 'vitest';
import { toStems } from '../../../core/memory/stems.ts';

test.each([
  ['A white delivery van, and two DELIVERIES', ['white', 'deliveri', 'van', 'two']],
  ['Ein weißer Lieferwagen fährt; café', ['ein', 'weißer', 'lieferwagen', 'fahrt', 'cafe']],
  ['"red" * NEAR(van, 5) -car OR 1=1; DROP', ['red', 'near', 'van', '5', 'car', '1', 'drop']],
  [' '.repeat(500), []],
  ['x'.repeat(300), ['x'.repeat(40)]],
  ['停车 標識', ['停车', '標識']],
])('the text "%s" has the stems %j', (text, stems) => {
  expect(toStems(text)).toEqual(stems);
});
