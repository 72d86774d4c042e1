import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { parseBlocks } from './snippets/blocks.ts';

const page = 'docs/contribute/add-a-feature.md';
const excerpts = parseBlocks(page).filter(({ language }) => language === 'diff');

test.each(excerpts.map(({ note, text }) => [note, text]))(
  'the excerpt of %s has lines of this file, in this order',
  (file, text) => {
    const source = readFileSync(file, 'utf8');
    let from = 0;
    for (const line of text.split('\n').map((marked) => marked.slice(1).trim())) {
      if (line === '') continue;
      const found = matchLine(line).exec(source.slice(from));
      expect(found, `${file} has no line "${line}"`).not.toBeNull();
      from += (found?.index ?? 0) + (found?.[0].length ?? 0);
    }
  },
);

test('docs/contribute/add-a-feature.md shows the feature in every layer that is written by hand', () => {
  const folders = new Set(excerpts.map(({ note }) => note.split('/')[0]));
  expect(folders).toEqual(new Set(['core', 'adapters', 'test', 'console']));
});

/** Returns a pattern for a line of source. "…" matches any text. */
function matchLine(line: string): RegExp {
  const parts = line.split('…').map((part) => part.replace(/[.*+?^${}()|[\]\\]/g, String.raw`\$&`));
  return new RegExp(`^\\s*${parts.join('.*')}$`, 'm');
}
