import { globSync, readFileSync } from 'node:fs';

/** A fenced block of a page. In "```ts poll.ts" the language is `ts` and the note `poll.ts`. */
export type Block = { page: string; line: number; language: string; note: string; text: string };

export const pages = ['README.md', ...globSync('docs/**/*.md').toSorted()];

export function blocksOf(page: string): Block[] {
  const markdown = readFileSync(page, 'utf8');
  return [...markdown.matchAll(/^```([^\s`]*) ?([^\n]*)\n([^]*?)^```$/gm)].map((found) => {
    const [, language = '', note = '', text = ''] = found;
    return { page, line: markdown.slice(0, found.index).split('\n').length, language, note, text };
  });
}

export function placeOf({ page, line }: Block): string {
  return `${page}:${line}`;
}

/** Lines that begin a command, without those that go on in the next and without comments. */
export function commandsOf({ text }: Block): string[] {
  const joined = text.replaceAll('\\\n', ' ').split('\n');
  return joined.map((line) => line.trim()).filter((line) => line !== '' && !line.startsWith('#'));
}
