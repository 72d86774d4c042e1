import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { destinationTypeSchema } from '../../core/records/watch.ts';
import { destinationExamples } from './destination-examples.ts';

const file: Record<string, unknown> = JSON.parse(readFileSync('docs/use/destination-examples.json', 'utf8'));
const examples = destinationExamples();

test.each(Object.entries(examples))(
  'docs/use/destination-examples.json has what arrives at a destination of type %s',
  (type, expected) => {
    expect(file[type]).toEqual(expected);
  },
);

test('each type of destination that receives messages has an example, and docs/use/destination-examples.json no other', () => {
  const { heartbeat: _, ...receiving } = destinationTypeSchema.enum;
  expect(new Set(Object.keys(examples))).toEqual(new Set(Object.keys(receiving)));
  expect(Object.keys(file).toSorted()).toEqual(Object.keys(examples).toSorted());
});
