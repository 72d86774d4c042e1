import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { promisify } from 'node:util';
import { expect, it } from 'vitest';

const run = promisify(execFile);
const read = (file: string) => JSON.parse(readFileSync(file, 'utf8'));
const [root, client] = [read('package.json'), read('client/package.json')];

it('the client package has the version, license and dependencies of the project', () => {
  const { version, license, engines } = root;
  expect(client).toMatchObject({ version, license, engines });
  for (const [name, range] of Object.entries(client.dependencies))
    expect(root.dependencies[name], name).toBe(range);
});

it('the client package depends on all packages that its sources import', () => {
  const imported = new Set(
    ['client.ts', 'errors.ts', 'follow.ts', 'transport.ts', 'verify-webhook.ts'].flatMap((file) =>
      [...readFileSync(`client/${file}`, 'utf8').matchAll(/from '((?:@[\w-]+\/)?[\w-]+)/g)].map(
        ([, name]) => name,
      ),
    ),
  );
  expect(imported).toEqual(new Set(Object.keys(client.dependencies)));
});

it('a dry run of npm publish contains the whole client package and needs no network', async () => {
  const { stdout } = await run('npm', [
    'publish',
    './client',
    '--dry-run',
    '--json',
    '--offline',
    '--ignore-scripts',
  ]);
  const published = JSON.parse(stdout);
  const { name, files } = published['watchpost-client'] ?? published;
  const paths = files.map(({ path }: { path: string }) => path);
  expect(name).toBe('watchpost-client');
  expect(paths).toEqual(
    expect.arrayContaining(['README.md', 'package.json', 'dist/index.js', 'dist/index.d.ts']),
  );
  expect(paths.filter((path: string) => path.endsWith('.ts') && !path.endsWith('.d.ts'))).toEqual([]);
});
