import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { build } from 'esbuild';
import { expect, test } from 'vitest';
import { functionNames } from '../../lib/bundle/options.ts';

const root = join(import.meta.dirname, '../..');
const page = readFileSync(join(root, 'docs/contribute/dependencies.md'), 'utf8');
const section = /## Packages that must be in use\n(.*?)\n## /s.exec(page)?.[1] ?? '';

/** Returns the packages that the page lists for a user: "the stack: `aws-cdk-lib`, `constructs`". */
function listed(user: string): string[] {
  const line = section.split('\n').find((each) => each.startsWith(`- ${user}: `)) ?? '';
  return [...line.matchAll(/`([^`]+)`/g)].map(([, name]) => name!);
}

/** Returns the files that an entry reaches, and the packages that they import. */
async function follow(entryPoints: string[]): Promise<{ files: string[]; packages: string[] }> {
  const { metafile } = await build({
    absWorkingDir: root,
    entryPoints,
    outdir: '/',
    bundle: true,
    write: false,
    metafile: true,
    packages: 'external',
    format: 'esm',
    platform: 'node',
    logLevel: 'silent',
  });
  const imports = Object.values(metafile.inputs).flatMap((input) => input.imports);
  const names = imports.filter(({ external }) => external).map(({ path }) => toPackage(path));
  return { files: Object.keys(metafile.inputs), packages: [...new Set(names)] };
}

function toPackage(path: string): string {
  return path
    .split('/')
    .slice(0, path.startsWith('@') ? 2 : 1)
    .join('/');
}

test('the functions import each package that the page lists for them', async () => {
  const { packages } = await follow(functionNames.map((name) => `functions/${name}/index.ts`));

  expect(listed('the functions')).toHaveLength(8);
  expect(listed('the functions').filter((name) => !packages.includes(name))).toEqual([]);
});

test('the stack imports each package that the page lists for it', async () => {
  const { packages } = await follow(['bin/watchpost.ts']);

  expect(listed('the stack')).toHaveLength(2);
  expect(listed('the stack').filter((name) => !packages.includes(name))).toEqual([]);
});

// The package is absent where its download failed, so that nothing imports it statically.
test.each(['cli/ensure-ffmpeg.ts', 'layers/ffmpeg/build.ts'])('%s obtains ffmpeg-static', async (entry) => {
  const { files } = await follow([entry]);
  const texts = files.map((file) => readFileSync(join(root, file), 'utf8'));

  expect(listed('the command line, and the layer')).toEqual(['ffmpeg-static']);
  expect(texts.filter((text) => /['/]ffmpeg-static['/]/.test(text))).not.toEqual([]);
});

test('the tests import each package that the page lists for them', () => {
  const texts = globSync('test/**/*.test.ts', { cwd: root }).map((file) =>
    readFileSync(join(root, file), 'utf8'),
  );

  expect(listed('the tests')).toHaveLength(2);
  for (const name of listed('the tests'))
    expect(
      texts.some((text) => text.includes(`from '${name}'`)),
      name,
    ).toBe(true);
});
