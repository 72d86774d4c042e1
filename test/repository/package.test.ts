import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { copyFileSync, cpSync, existsSync, globSync, mkdirSync, readFileSync, symlinkSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { beforeAll, expect, onTestFinished, test } from 'vitest';
import { folderOfFile } from '../support/temporary-folder.ts';

/**
 * The package of one machine, installed in an empty folder: links stand for its dependencies, since npm has installed
 * them here from the same file.
 */

const run = promisify(execFile);
const folder = folderOfFile();
const own = join(folder, 'node_modules/watchpost');
const launcher = join(own, 'cli/launch.js');
let bytes: number;

beforeAll(async () => {
  // As `npm pack`, beside which another test may build the console.
  const source = join(folder, 'source');
  await run(process.execPath, ['bin/build-package.ts', join(source, 'dist/package')]);
  mkdirSync(join(source, 'cli'));
  for (const file of ['package.json', 'LICENSE', 'README.md', 'cli/launch.js'])
    copyFileSync(file, join(source, file));
  cpSync('client/dist', join(source, 'client/dist'), { recursive: true });
  const { stdout } = await run('npm', [
    'pack',
    source,
    '--ignore-scripts',
    '--json',
    '--pack-destination',
    folder,
  ]);
  const [packed] = Object.values<{ filename: string; size: number }>(JSON.parse(stdout));
  bytes = packed!.size;
  mkdirSync(own, { recursive: true });
  await run('tar', ['-xzf', join(folder, packed!.filename), '-C', own, '--strip-components=1']);
  const { dependencies } = JSON.parse(readFileSync('package.json', 'utf8'));
  for (const name of Object.keys(dependencies)) {
    mkdirSync(dirname(join(folder, 'node_modules', name)), { recursive: true });
    symlinkSync(resolve('node_modules', name), join(folder, 'node_modules', name));
  }
}, 240_000);

test('the package has less than 1.5 MB, and no TypeScript that Node would have to strip', () => {
  expect(bytes).toBeLessThan(1_500_000);
  expect(globSync('**/*.ts', { cwd: own, exclude: ['**/*.d.ts'] })).toEqual([]);
});

test('each program of a process or thread that the package starts is in it', () => {
  const programs = globSync('dist/package/{adapters,cli}/**/*.js', { cwd: own }).flatMap((file) =>
    [...readFileSync(join(own, file), 'utf8').matchAll(/new URL\('([\w./-]+)', import\.meta\.url\)/g)].map(
      ([, path = '']) => join(own, dirname(file), path),
    ),
  );
  expect(programs.length).toBeGreaterThan(4);
  expect(programs.filter((path) => !existsSync(path))).toEqual([]);
});

// Node 22.15 and 23 have node:sqlite, but without FTS5 in each of their releases.
test.each(['20.19.0', '22.15.1', '23.5.0'])(
  'Node %s prints the version that the package needs, in one sentence',
  async (version) => {
    const old = `data:text/javascript,Object.defineProperty(process.versions,'node',{value:'${version}'})`;
    await expect(run(process.execPath, ['--import', old, launcher, 'start'])).rejects.toMatchObject({
      code: 2,
      stderr: `Watchpost needs Node 22.16 or newer (not 23), whose node:sqlite can search words; this is ${version}.\n`,
    });
  },
);

test('the package serves API and console without its optional packages, and says at the start what is not judged', async () => {
  const args = [launcher, 'start', '--port', '0', '--data-dir', join(folder, 'data')];
  const service = spawn(process.execPath, args, { cwd: folder, stdio: ['ignore', 'pipe', 'pipe'] });
  onTestFinished(async () => {
    if (service.exitCode === null && service.kill('SIGKILL')) await once(service, 'close');
  });
  let output = '';
  for (const stream of [service.stdout, service.stderr])
    stream.on('data', (chunk: Buffer) => (output += chunk.toString()));
  await expect.poll(() => output, { timeout: 60_000 }).toMatch(/serves on (\S+)/);
  const [, base = ''] = /serves on (http:\/\/[^/\s]+)/.exec(output) ?? [];
  const [health, page] = await Promise.all([fetch(`${base}/healthz`), fetch(`${base}/console`)]);
  expect(health.status).toBe(200);
  expect(await page.text()).toContain('<div id="');
  expect(output).toContain('no things such as persons and cars: packages are missing, run npm install');
}, 90_000);
