import { existsSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { pages } from './snippets/blocks.ts';

/** Returns the text without code, since a link in code is an example. */
const prose = (page: string) =>
  readFileSync(page, 'utf8')
    .replaceAll(/^```[^]*?^```$/gm, '')
    .replaceAll(/`[^`\n]*`/g, (code) => code.replaceAll(/[[\]]/g, ''));

/** Returns the anchors of headings, as GitHub generates them. */
function parseAnchors(page: string): string[] {
  const headings = [...readFileSync(page, 'utf8').matchAll(/^#+ (.+)$/gm)].map(([, text = '']) => text);
  return headings.map((text) =>
    text
      .toLowerCase()
      .replaceAll(/[^\p{L}\p{N}\s_-]/gu, '')
      .replaceAll(/\s/g, '-'),
  );
}

describe('links of the documentation', () => {
  it.each([...pages, 'CONTRIBUTING.md', 'CHANGELOG.md', 'SECURITY.md'])(
    'every link of %s leads to an existing page and heading',
    (page) => {
      for (const [, target = ''] of prose(page).matchAll(/\]\(([^)\s]+)\)/g)) {
        if (/^[a-z]+:/.test(target)) continue;
        const [path = '', anchor] = target.split('#');
        const file = path === '' ? page : join(dirname(page), path);
        expect(existsSync(file), `${page} links to ${target}`).toBe(true);
        if (anchor !== undefined && file.endsWith('.md'))
          expect(parseAnchors(file), `${page} links to ${target}`).toContain(anchor);
      }
    },
  );
});

it('the README links to every page, and the decision index to every record', () => {
  const records = /^docs\/contribute\/decisions\/(\d{4}-[a-z\d-]+\.md)$/;
  const readme = readFileSync('README.md', 'utf8');
  const index = readFileSync('docs/contribute/decisions/README.md', 'utf8');
  const names = (page: string) => {
    const record = records.exec(page)?.[1];
    return record === undefined ? readme.includes(page) : index.includes(`(${record})`);
  };
  expect(pages.filter((page) => page !== 'README.md' && !names(page))).toEqual([]);
});

it('a decision record has a title, a status, a date, four sections and at most 40 lines', () => {
  const records = pages.filter((page) => /\/decisions\/\d{4}-/.test(page));
  expect(records).not.toEqual([]);
  for (const page of records) {
    const text = readFileSync(page, 'utf8');
    expect(text, page).toMatch(
      /^# .+\n\n- Status: (proposed|accepted|superseded by \d{4})\n- Date: \d{4}-\d{2}-\d{2}\n\n## Context\n[^]+\n## Decision\n[^]+\n## Alternatives\n[^]+\n## Consequences\n/,
    );
    expect(text.trimEnd().split('\n').length, page).toBeLessThanOrEqual(40);
  }
});
