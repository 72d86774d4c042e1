import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import results from '../servers/results.json' with { type: 'json' };
import { formatTable } from '../servers/table.ts';

test('the table of foreign servers shows the recorded results', () => {
  const page = readFileSync(new URL('../../docs/use/sources.md', import.meta.url), 'utf8');
  const plain = (text: string): string => text.replaceAll(/ +/g, ' ').replaceAll(/-+/g, '-');
  expect(plain(page)).toContain(plain(formatTable(results)));
});
