import { execFile } from 'node:child_process';
import {
  copyFileSync,
  globSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { startLoop, type LoopedStream } from '../support/hls/looped-stream.ts';
import { startService, type ServiceProcess } from '../support/service-process.ts';
import { startTcpProxy } from '../support/servers/tcp-proxy.ts';

/**
 * Tests the packed client: installed alone elsewhere, compiled strictly, run against a service through broken
 * connections.
 */

const run = promisify(execFile);
const directory = mkdtempSync(join(tmpdir(), 'watchpost-package-'));
let dependencies = new Set<string>();
let stream: LoopedStream;
let service: ServiceProcess;

beforeAll(async () => {
  await install();
  stream = await startLoop('testsrc2=size=320x180:rate=5');
  service = await startService(join(directory, 'data'));
});

afterAll(async () => {
  await service.kill('SIGTERM');
  await stream.close();
  rmSync(directory, { recursive: true, force: true });
});

async function install() {
  const modules = join(directory, 'node_modules');
  const own = join(modules, 'watchpost-client');
  mkdirSync(own, { recursive: true });
  // Its script `prepack` compiles it.
  const { stdout } = await run('npm', ['pack', './client', '--silent', '--pack-destination', directory]);
  const tarball = join(directory, stdout.trim().split('\n').at(-1) ?? '');
  await run('tar', ['-xzf', tarball, '-C', own, '--strip-components=1']);
  dependencies = listDependencies(join(own, 'package.json'));
  // The types of Node belong to the program that uses the client.
  for (const name of [...dependencies, '@types/node', 'undici-types']) {
    mkdirSync(dirname(join(modules, name)), { recursive: true });
    symlinkSync(resolve('node_modules', name), join(modules, name));
  }
  writeFileSync(join(directory, 'package.json'), JSON.stringify({ type: 'module' }));
  copyFileSync('test/client/watch.ts.txt', join(directory, 'watch.ts'));
}

/** Returns the packages that npm installs with a package, as the lock file of the project has them. */
function listDependencies(file: string, known = new Set<string>()): Set<string> {
  const { dependencies: direct = {} }: { dependencies?: Record<string, string> } = JSON.parse(
    readFileSync(file, 'utf8'),
  );
  for (const name of Object.keys(direct))
    if (!known.has(name)) listDependencies(resolve('node_modules', name, 'package.json'), known.add(name));
  return known;
}

test('the client brings four small packages of its own, less than a megabyte in all', () => {
  expect([...dependencies].toSorted()).toEqual([
    '@stablelib/base64',
    'eventsource-parser',
    'fast-sha256',
    'standardwebhooks',
  ]);
  const bytes = [...dependencies].flatMap((name) =>
    globSync(`node_modules/${name}/**/*`).map((path) => statSync(path).size),
  );
  expect(bytes.reduce((sum, size) => sum + size, 0)).toBeLessThan(1_000_000);
});

test('an installed client compiles strictly and follows a monitor across broken connections', async () => {
  const strict = [
    '--strict',
    '--exactOptionalPropertyTypes',
    '--noUncheckedIndexedAccess',
    '--skipLibCheck',
    'false',
  ];
  const modern = [
    '--target',
    'es2024',
    '--lib',
    'es2024,esnext.disposable',
    '--module',
    'nodenext',
    '--types',
    'node',
    '--outDir',
    directory,
  ];
  await run(resolve('node_modules/.bin/tsc'), [...strict, ...modern, join(directory, 'watch.ts')], {
    cwd: directory,
  });

  const proxy = await startTcpProxy({ host: '127.0.0.1', port: Number(new URL(service.baseUrl).port) });
  // Before the second check, at least half an interval after the first: the client does not retry a cancellation.
  const cutting = [1_200, 2_000].map((at) => setTimeout(proxy.cut, at));
  try {
    const throughProxy = `http://127.0.0.1:${proxy.port}/api`;
    const args = [join(directory, 'watch.js'), throughProxy, service.apiKey, stream.url];
    const { stdout } = await run(process.execPath, args, { env: { ...process.env, FORCE_COLOR: '0' } });

    const lines = stdout.trim().split('\n');
    expect(lines.slice(0, 4)).toEqual(['1 job_started', '2 progress', '3 progress', '4 job_stopped']);
    expect(lines.slice(4, 6)).toEqual(['cancelled', 'stopped']);
    expect(lines[6]).toBeTruthy();
    expect(proxy.accepted()).toBeGreaterThan(2);
  } finally {
    cutting.forEach(clearTimeout);
    await proxy.close();
  }
});
