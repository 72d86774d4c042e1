import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { destinationTypeSchema } from '../../core/records/watch.ts';
import { destinationExamples } from './destination-examples.ts';

const page = readFileSync('docs/use/destinations.md', 'utf8');
/** Messages whose parts a developer reads are on the page, those for tools of others in the file. */
const headings: Record<string, string> = { webhook: 'Webhook' };
const file: Record<string, unknown> = JSON.parse(readFileSync('docs/use/destination-examples.json', 'utf8'));
const examples = Object.entries(destinationExamples());

test.each(examples)('the pages show what arrives at a destination of type %s', (type, expected) => {
  const heading = headings[type];
  if (heading === undefined) return expect(file[type]).toEqual(expected);
  const chapter = page.split(/^## /m).find((part) => part.startsWith(heading));
  const [, block = ''] = /```json\n([\s\S]*?)\n```/.exec(chapter ?? '') ?? [];
  return expect(JSON.parse(block)).toEqual(expected);
});

test('each type of destination that receives messages has an example, and docs/use/destination-examples.json no other', () => {
  const types = examples.map(([type]) => type);
  const { heartbeat: _, ...receiving } = destinationTypeSchema.enum;
  expect(new Set(types)).toEqual(new Set(Object.keys(receiving)));
  expect(Object.keys(file).filter((type) => !types.includes(type) || type in headings)).toEqual([]);
});
