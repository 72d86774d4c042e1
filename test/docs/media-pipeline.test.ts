import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';

const read = (path: string): string => readFileSync(new URL(`../../${path}`, import.meta.url), 'utf8');
const page = read('docs/contribute/media-pipeline.md');

/** Returns the rows whose last cell is "`file`: test title". */
function parseRows(chapter: string): string[][] {
  const text = page.split(/^## /m).find((part) => part.startsWith(chapter)) ?? '';
  return [...text.matchAll(/\| `([\w-]+)`: (.+?)\s*\|$/gm)].map(([, file = '', name = '']) => [file, name]);
}

describe('docs/contribute/media-pipeline.md', () => {
  test.each([
    ['HLS', 'hls', 30],
    ['RTSP', 'rtsp', 18],
  ])('docs/contribute/media-pipeline.md refers to existing tests of %s', (chapter, folder, minRows) => {
    const rows = parseRows(chapter);
    expect(rows.length).toBeGreaterThan(minRows);
    for (const [file, name] of rows) {
      expect(read(`test/adapters/media/${folder}/${file}.test.ts`), `${file}: ${name}`).toContain(name);
    }
  });
});
