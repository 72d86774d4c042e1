import { spawnSync } from 'node:child_process';
import { globSync } from 'node:fs';
import { build } from 'esbuild';
import { expect, test } from 'vitest';

test('the command line loads the service only for the commands that run it', async () => {
  const { metafile } = await build({
    entryPoints: ['cli/watchpost.ts'],
    bundle: true,
    write: false,
    metafile: true,
    platform: 'node',
    format: 'esm',
    packages: 'external',
  });
  const loaded = new Set<string>(['cli/watchpost.ts']);
  for (const file of loaded)
    for (const { path, kind } of metafile.inputs[file]?.imports ?? [])
      if (kind === 'import-statement') loaded.add(path);
  const files = Object.keys(metafile.inputs);
  expect(files).toContain('cli/service/service.ts');
  expect(globSync('cli/commands/*.ts').filter((file) => !files.includes(file))).toEqual([]);
  const late = [...loaded].filter((file) => /^cli\/(?:commands|service)\//.test(file));
  expect(late).toEqual([]);
});

test('the help lists every command in order, also for a name that is unknown', async () => {
  const help = spawnSync(process.execPath, ['cli/watchpost.ts', '--help'], { encoding: 'utf8' }).stdout;
  const listed = [...help.matchAll(/^  ([a-z-]+)(?: |$)/gm)].map(([, name]) => name);
  expect(listed.slice(0, 3)).toEqual(['start', 'demo', 'stream']);
  expect(listed).toEqual(expect.arrayContaining(['accept-secret', 'keys', 'usage', 'callers', 'watch']));
  const unknown = spawnSync(process.execPath, ['cli/watchpost.ts', 'demmo'], { encoding: 'utf8' });
  expect(unknown.stderr).toContain('Did you mean demo?');
});
