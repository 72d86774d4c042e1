import { globSync, readFileSync } from 'node:fs';

/** Fenced block of a page. In "```ts poll.ts" the language is `ts` and the note `poll.ts`. */
export type Block = { page: string; line: number; language: string; note: string; text: string };

/** Pages of the documentation. */
export const pages = ['README.md', ...globSync('docs/**/*.md').toSorted()];

/** Parses the fenced blocks of a page. */
export function parseBlocks(page: string): Block[] {
  const markdown = readFileSync(page, 'utf8');
  return [...markdown.matchAll(/^```([^\s`]*) ?([^\n]*)\n([^]*?)^```$/gm)].map((found) => {
    const [, language = '', note = '', text = ''] = found;
    return { page, line: markdown.slice(0, found.index).split('\n').length, language, note, text };
  });
}

/**
 * Blocks in TypeScript: those that use the construct are compiled with its package, since its source takes most of the
 * time of all.
 */
export const typescriptBlocks = Map.groupBy(
  pages.flatMap(parseBlocks).filter(({ language }) => language === 'ts'),
  ({ text }) => (text.includes("'watchpost-cdk'") ? 'construct' : 'client'),
);

/** Returns page and line of a block, for messages. */
export function parseTarget({ page, line }: Block): string {
  return `${page}:${line}`;
}

/** Returns the commands of a shell block: lines with their continuations, without comments. */
export function parseCommands({ text }: Block): string[] {
  const joined = text.replaceAll('\\\n', ' ').split('\n');
  return joined.map((line) => line.trim()).filter((line) => line !== '' && !line.startsWith('#'));
}
