import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import type { Endpoint } from '../../adapters/http/endpoint.ts';
import { endpoints } from '../../adapters/http/endpoints/endpoints.ts';

test('the table of endpoints has what is declared of each, in the same order', () => {
  expect(tableBelow('## Endpoints', readFileSync('docs/use/api-reference.md', 'utf8'))).toEqual([
    ['endpoint', 'purpose', 'scope, limit'],
    ...endpoints.map(toRow),
  ]);
});

function toRow({ method, path, title, scope, rateLimit }: Endpoint): string[] {
  const limits = [scope === 'any' ? 'any' : `\`${scope}\``, rateLimit ?? []].flat();
  return [`\`${method.toUpperCase()} ${path}\``, title, limits.join(', ')];
}

/** Returns the cells of the first table below a heading, without the line of dashes. */
function tableBelow(heading: string, page: string): string[][] {
  const [, chapter = ''] = page.split(`${heading}\n`);
  const table = /(?:^\|.*\n)+/m.exec(chapter)?.[0] ?? '';
  const rows = table.trimEnd().split('\n');
  return rows
    .filter((_, index) => index !== 1)
    .map((row) =>
      row
        .split('|')
        .slice(1, -1)
        .map((cell) => cell.trim()),
    );
}
