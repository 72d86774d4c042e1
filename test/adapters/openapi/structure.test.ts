import { expect, test } from 'vitest';
import { openApiDocument } from '../../../adapters/openapi/document.ts';

/** Text members, which can change without a change of the interface. */
const texts = new Set(['description', 'summary', 'title', 'example', 'examples', 'tags']);

/** Members whose keys are names of the interface and not OpenAPI keywords. */
const named = new Set(['properties', 'schemas', 'paths', 'responses', 'headers', 'webhooks']);

test('the structure of the OpenAPI document changes only with its snapshot', async () => {
  const structure = withoutTexts(openApiDocument('https://watchpost.example.com/api'));
  await expect(`${JSON.stringify(structure, null, 1)}\n`).toMatchFileSnapshot('structure.snapshot.json');
});

function withoutTexts(value: unknown, isNamed = false): unknown {
  if (Array.isArray(value)) return value.map((item) => withoutTexts(item));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value)
      .filter(([key]) => isNamed || !texts.has(key))
      .toSorted(([first], [second]) => (first < second ? -1 : 1))
      .map(([key, inner]) => [key, withoutTexts(inner, !isNamed && named.has(key))]),
  );
}
