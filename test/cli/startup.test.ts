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
  expect(Object.keys(metafile.inputs)).toContain('cli/service/service.ts');
  // Tests run a command by its file, without this entry.
  expect(globSync('cli/program/add-*.ts').filter((file) => !loaded.has(file))).toEqual([]);
  expect(loaded).not.toContain('cli/commands/keys.ts');
  expect(loaded).not.toContain('cli/service/service.ts');
  expect(loaded).not.toContain('cli/service/vision-model.ts');
});
