import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';

const read = (path: string): string => readFileSync(new URL(`../../${path}`, import.meta.url), 'utf8');
const page = read('docs/streams.md');

/** Rows whose last cell is "`file`: name of a test". */
function rowsOf(chapter: string): string[][] {
  const text = page.split(/^## /m).find((part) => part.startsWith(chapter)) ?? '';
  return [...text.matchAll(/\| `([\w-]+)`: (.+?)\s*\|$/gm)].map(([, file = '', name = '']) => [file, name]);
}

describe('the page on streams', () => {
  it.each([
    ['HLS', 'hls', 30],
    ['RTSP', 'rtsp', 18],
  ])('names tests that are there (%s)', (chapter, folder, least) => {
    const rows = rowsOf(chapter);
    expect(rows.length).toBeGreaterThan(least);
    for (const [file, name] of rows) {
      expect(read(`test/adapters/media/${folder}/${file}.test.ts`), `${file}: ${name}`).toContain(name);
    }
  });
});
