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
function anchorsOf(page: string): string[] {
  const headings = [...readFileSync(page, 'utf8').matchAll(/^#+ (.+)$/gm)].map(([, text = '']) => text);
  return headings.map((text) =>
    text
      .toLowerCase()
      .replaceAll(/[^\p{L}\p{N}\s_-]/gu, '')
      .replaceAll(/\s/g, '-'),
  );
}

describe('links of the documentation', () => {
  it.each([...pages, 'CONTRIBUTING.md'])('every link of %s leads to an existing page and heading', (page) => {
    for (const [, target = ''] of prose(page).matchAll(/\]\(([^)\s]+)\)/g)) {
      if (/^[a-z]+:/.test(target)) continue;
      const [path = '', anchor] = target.split('#');
      const file = path === '' ? page : join(dirname(page), path);
      expect(existsSync(file), `${page} links to ${target}`).toBe(true);
      if (anchor !== undefined && file.endsWith('.md'))
        expect(anchorsOf(file), `${page} links to ${target}`).toContain(anchor);
    }
  });
});

it('the README links to every page', () => {
  const readme = readFileSync('README.md', 'utf8');
  expect(pages.filter((page) => page !== 'README.md' && !readme.includes(page))).toEqual([]);
});
