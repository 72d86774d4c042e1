import { existsSync, globSync, readdirSync, readFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { describe, expect, test } from 'vitest';
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

/** Parses the links of a page within the repository. */
function parseLinks(page: string): { target: string; file: string; anchor: string | undefined }[] {
  const targets = [...prose(page).matchAll(/\]\(([^)\s]+)\)/g)].map(([, target = '']) => target);
  return targets
    .filter((target) => !/^[a-z]+:/.test(target))
    .map((target) => {
      const [path = '', anchor] = target.split('#');
      return { target, file: path === '' ? page : join(dirname(page), path), anchor };
    });
}

const audiences = ['docs/use', 'docs/operate', 'docs/contribute'];

describe('links of the documentation', () => {
  test.each([...pages, 'CONTRIBUTING.md', 'CHANGELOG.md', 'SECURITY.md'])(
    'every link of %s leads to an existing page and heading',
    (page) => {
      for (const { target, file, anchor } of parseLinks(page)) {
        expect(existsSync(file), `${page} links to ${target}`).toBe(true);
        if (anchor !== undefined && file.endsWith('.md'))
          expect(parseAnchors(file), `${page} links to ${target}`).toContain(anchor);
      }
    },
  );
});

const readLinkedFiles = (page: string) => parseLinks(page).map(({ file }) => file);

test('the README links to the index of each audience, and each index to every page of its folder', () => {
  expect(readLinkedFiles('README.md')).toEqual(
    expect.arrayContaining(audiences.map((folder) => `${folder}/README.md`)),
  );
  const inFolders = pages.filter((page) => /^docs\/\w+\//.test(page) && !/^docs\/\w+\/README/.test(page));
  const unlinked = inFolders.filter((page) => !readLinkedFiles(`${dirname(page)}/README.md`).includes(page));
  expect(unlinked).toEqual([]);
});

/** Names of all source files. */
const sources = new Set(
  globSync('{adapters,bench,bin,cli,client,console,core,functions,layers,lib,test}/**/*.{ts,tsx}', {
    exclude: (path) => /(?:^|\/)(?:node_modules|dist)$/.test(path),
  }).map((path) => basename(path)),
);

test.each(pages.filter((page) => page.startsWith('docs/contribute/')))(
  'every path and file name of the repository in %s exists',
  (page) => {
    const code =
      /`((?:adapters|bench|cli|client|console|core|docs|functions|layers|lib|test|workflow)\/[\w./-]+)`/g;
    const text = readFileSync(page, 'utf8');
    const paths = [...text.matchAll(code)].map(([, path = '']) => path);
    expect(paths.filter((path) => !existsSync(path))).toEqual([]);
    const names = [...text.matchAll(/`([\w.-]+\.tsx?)`/g)].map(([, name = '']) => name);
    expect(names.filter((name) => !sources.has(name))).toEqual([]);
  },
);

test('the tree of architecture.md has every folder of the source and no other', () => {
  const page = readFileSync('docs/contribute/architecture.md', 'utf8');
  const [, tree = ''] = /^## Folders$[^`]*```\n([^]*?)```/m.exec(page) ?? [];
  const parents = [
    'adapters',
    'adapters/embedded',
    'adapters/media',
    'adapters/vision',
    'cli',
    'core',
    'lib',
  ];
  const folders = parents.flatMap((parent) => {
    const entries = readdirSync(parent, { withFileTypes: true });
    return entries
      .filter((entry) => entry.isDirectory())
      .map(({ name }) => name)
      .filter((name) => name !== 'dist');
  });
  const isNamed = (name: string) => new RegExp(String.raw`(?<![\w-])${name}(?![\w-])`).test(tree);
  expect(folders.filter((name) => !isNamed(name))).toEqual([]);
  const named = [...tree.matchAll(/(?<![\w-])([\w-]+)\/(?=[, ])/g)].map(([, name = '']) => name);
  expect(named.filter((name) => !folders.includes(name) && !existsSync(name))).toEqual([]);
});

test('testing.md names every folder of tests', () => {
  const folders = readdirSync('test', { withFileTypes: true }).filter((entry) => entry.isDirectory());
  const page = readFileSync('docs/contribute/testing.md', 'utf8');
  expect(folders.map(({ name }) => name).filter((name) => !page.includes(`\`${name}\``))).toEqual([]);
});

/**
 * Lists the names of code in a line with the file that each follows. A file without a folder is beside the one before.
 */
function listNames(line: string): { file: string; name: string }[] {
  let file = '';
  return [...line.matchAll(/`([^`]+)`/g)].flatMap(([, code = '']) => {
    if (/^[\w./-]+\.(?:ts|tsx|json|md)$/.test(code))
      file = code.includes('/') ? code : join(dirname(file), code);
    return file !== '' && /^\w+$/.test(code) ? [{ file, name: code }] : [];
  });
}

/** Returns true if a source file declares the name, or another file has it as a word. */
function hasName({ file, name }: { file: string; name: string }): boolean {
  const text = readFileSync(file, 'utf8');
  const declared = String.raw`\b(?:function\*?|const|type|interface|class) ${name}\b|^ +(?:async )?${name}\??[:(]`;
  return new RegExp(/\.tsx?$/.test(file) ? declared : String.raw`\b${name}\b`, 'm').test(text);
}

test('architecture.md names files and functions that exist: each name is declared in the file before it', () => {
  const [, found = ''] =
    /^## Find it$([^]*?)^## /m.exec(readFileSync('docs/contribute/architecture.md', 'utf8')) ?? [];
  const named = found.split('\n').flatMap(listNames);
  expect(named.length).toBeGreaterThan(15);
  expect(named.filter(({ file }) => !existsSync(file))).toEqual([]);
  expect(named.filter((each) => !hasName(each))).toEqual([]);
});

test.each(pages)('the first paragraph of %s names its readers', (page) => {
  if (page === 'README.md' || page === 'docs/README.md') return;
  const [, paragraph = ''] = readFileSync(page, 'utf8').split('\n\n');
  expect(paragraph).toMatch(/^For .*(callers|developers|deployers|operators|contributors)/is);
});

test('every page that code, image and workflows name exists', () => {
  const files = globSync(
    [
      '{adapters,bench,bin,cli,client,console,core,functions,layers,lib}/**/*.{ts,tsx,sh}',
      'Dockerfile',
      'compose.yaml',
      '.github/**/*.yml',
    ],
    { exclude: (path) => /(?:^|\/)(?:node_modules|dist)$/.test(path) },
  );
  const named = files.flatMap((file) =>
    [...readFileSync(file, 'utf8').matchAll(/docs\/[\w/-]+\.md/g)].map(([page]) => ({ file, page })),
  );
  expect(named.length).toBeGreaterThan(10);
  expect(named.filter(({ page }) => !existsSync(page))).toEqual([]);
});
