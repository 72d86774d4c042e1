import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';

const run = promisify(execFile);
const read = (file: string) => JSON.parse(readFileSync(file, 'utf8'));
const [root, client] = [read('package.json'), read('client/package.json')];

test('the package of the client has the version and the license of the project, and the versions of dependencies that both have', () => {
  const { version, license, engines } = root;
  expect(client).toMatchObject({ version, license, engines });
  const shared = Object.keys(client.dependencies).filter((name) => name in root.dependencies);
  for (const name of shared) expect(client.dependencies[name], name).toBe(root.dependencies[name]);
});

test('the package of the client depends on all that its sources import', () => {
  const imported = new Set(
    ['client.ts', 'errors.ts', 'follow.ts', 'transport.ts', 'verify-webhook.ts'].flatMap((file) =>
      [...readFileSync(`client/${file}`, 'utf8').matchAll(/from '((?:@[\w-]+\/)?[\w-]+)/g)].map(
        ([, name]) => name,
      ),
    ),
  );
  expect(imported).toEqual(new Set(Object.keys(client.dependencies)));
});

test('a publication of the client is complete and needs no network to be tried', async () => {
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
