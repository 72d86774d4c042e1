import { globSync, readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { listSettings } from '../../cli/settings.ts';
import { findStrayVariables, otherVariables } from '../../cli/commands/start.ts';

/** Every text that names a setting names one that exists: messages, help, pages, examples. */

const isBuilt = (path: string) => /(?:^|\/)(?:node_modules|dist)$/.test(path);
const read = (patterns: string[]) =>
  globSync(patterns, { exclude: isBuilt }).map((file) => ({ file, text: readFileSync(file, 'utf8') }));
const sources = ['{adapters,bin,bundle,cli,client,console,core,functions,lib}/**/*.{ts,tsx}'];
const pages = ['*.md', 'docs/**/*.{md,service,json,yml}', 'compose.yaml', 'Dockerfile', '.github/**/*.yml'];

const variables = listSettings().map(({ variable }) => variable);
const flags = listSettings().map(({ flag }) => flag);

function collect(patterns: string[], pattern: RegExp): { file: string; name: string }[] {
  return read(patterns).flatMap(({ file, text }) =>
    [...text.matchAll(pattern)].map(([name]) => ({ file, name })),
  );
}

test('each variable with the prefix that a text names is a setting, or a variable of another program', () => {
  const named = collect([...sources, ...pages], /\bWATCHPOST_[A-Z][A-Z_]*[A-Z]\b(?!_|\$|\*)/g);
  const unknown = named.filter(({ name }) => !variables.includes(name) && !(name in otherVariables));
  expect(unknown).toEqual([]);
  expect(named.map(({ name }) => name)).toEqual(expect.arrayContaining(variables));
});

test('no text names a setting without its prefix', () => {
  const common = /^(?:PORT|HOST|LOG_LEVEL|FFMPEG)$/;
  const bare = variables.map((name) => name.slice('WATCHPOST_'.length)).filter((name) => !common.test(name));
  const pattern = new RegExp(`(?<![\\w$])(?:${bare.join('|')})(?![\\w])`, 'g');
  const oneMachine = ['{cli,console,core}/**/*.{ts,tsx}', 'adapters/!(aws)/**/*.ts', 'docs/**/*.md', '*.md'];
  // Environment of the functions on AWS, whose names have no prefix.
  const named = collect(oneMachine, pattern).filter(
    ({ file }) => !/aws|decisions|cli\/commands\/start/.test(file),
  );
  expect(named).toEqual([]);
});

test('each flag in a message or page about the command line exists', () => {
  const options = /(?:[oO]ption\()\s*'(--[a-z][a-z-]*)/g;
  const declared = read(['cli/**/*.ts']).flatMap(({ text }) =>
    [...text.matchAll(options)].map(([, flag]) => flag!),
  );
  const known = new Set([...flags, ...declared, '--help', '--version']);
  const texts = [
    'cli/!(report)/**/*.ts',
    'cli/*.ts',
    'core/**/*.ts',
    'adapters/{embedded,egress,http,media,vision}/**/*.ts',
  ];
  const ofOthers = new Set([
    '--no-install-recommends',
    '--depth',
    '--include',
    '--omit',
    '--no-save',
    '--save-optional',
    '--prefix',
    '--table-name',
    '--max-semi-space-size',
    '--max-old-space-size',
    '--limit-mm-per-prompt',
    '--max-model-len',
    '--mmproj',
  ]);
  const unknown = collect(texts, /(?<=[\s`'"]|(?<!var)\()--[a-z][a-z-]*[a-z](?![\w-]*:)/g).filter(
    ({ name }) => !known.has(name) && !ofOthers.has(name),
  );
  expect(unknown).toEqual([]);
});

describe('variables without effect', () => {
  test.each([
    ['WATCHPOST_VISON', 'Did you mean WATCHPOST_VISION?'],
    ['WATCHPOST_ALLOW_RANGE', 'Did you mean WATCHPOST_ALLOW_RANGES?'],
    ['WATCHPOST_COLOR_OF_BANNER', 'is no setting and has no effect.'],
    ['VISION', 'VISION has no effect: the setting is WATCHPOST_VISION.'],
    ['DATA_DIR', 'the setting is WATCHPOST_DATA_DIR.'],
  ])('the variable %s is warned of', (name, warning) => {
    expect(findStrayVariables({ [name]: 'x' })).toEqual([expect.stringContaining(warning)]);
  });

  test('settings, variables of other programs and common names are not warned of', () => {
    const env = { WATCHPOST_VISION: 'pixel', VISION: 'x', WATCHPOST_KEY: 'x', PORT: '1', HOST: 'x' };
    expect(findStrayVariables(env)).toEqual([]);
  });
});
