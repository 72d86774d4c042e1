import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { isStream } from '../../adapters/http/endpoint.ts';
import type { Endpoint } from '../../adapters/http/endpoint.ts';
import { endpoints } from '../../adapters/http/endpoints/endpoints.ts';

test('the table of endpoints has what is declared of each, in the same order', () => {
  expect(tableBelow('## Endpoints', readFileSync('docs/use/api-reference.md', 'utf8'))).toEqual([
    ['endpoint', 'purpose', 'scope', 'rate limit', 'time on AWS'],
    ...endpoints.map(toRow),
  ]);
});

function toRow({ method, path, title, scope, rateLimit, timeBudgetSeconds, response }: Endpoint): string[] {
  return [
    `\`${method.toUpperCase()} ${path}\``,
    title,
    scope === 'any' ? 'any' : `\`${scope}\``,
    rateLimit ?? 'none',
    isStream(response) ? `${timeBudgetSeconds} s, or events` : `${timeBudgetSeconds} s`,
  ];
}

/** Returns the cells of the first table below a heading, without the line of dashes. */
function tableBelow(heading: string, page: string): string[][] {
  const [, chapter = ''] = page.split(`${heading}\n`);
  const table = /(?:^\|.*\n)+/m.exec(chapter)?.[0] ?? '';
  const rows = table.trimEnd().split('\n');
  return rows
    .filter((_, index) => index !== 1)
    .map((row) => row.split(' | ').map((cell) => cell.replace(/^\|\s*|\s*\|$/g, '').trim()));
}
