import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { readdir, readFile, stat } from 'node:fs/promises';
import { createServer } from 'node:http';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { build } from 'esbuild';
import { beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import type { BuiltFunction } from '../../../lib/bundle/build-functions.ts';
import { compareSizes } from '../../../lib/bundle/compare-sizes.ts';
import { laterPackage, bundleOptions, functionNames } from '../../../lib/bundle/options.ts';
import { builtFunctions } from '../../support/built-functions.ts';
import { functionsEnvironment } from '../../support/functions-environment.ts';
import { folderOfRun } from '../../support/runner/run-folder.ts';
import { folderOfFile } from '../../support/temporary-folder.ts';
import recorded from '../../../lib/bundle/sizes.json' with { type: 'json' };

const run = promisify(execFile);
/** Maximum size of what a cold start of a function loads, in kB. */
const maxKilobytes = { api: 955, stream: 955, capture: 1030, analyze: 735, deliver: 635, reconcile: 575 };

const folder = folderOfFile();
let outDir: string;
let warnings: string;
let built: BuiltFunction[];

/** The CLI with `cdk.json`, bundles and the rules of cdk-nag. */
beforeAll(async () => {
  const ofRun = folderOfRun();
  outDir = await builtFunctions();
  const output = ['--output', join(folder, 'out'), '-c', `bundles=${outDir}`];
  const { stderr } = await run(
    process.execPath,
    ['node_modules/aws-cdk/bin/cdk', 'synth', '--quiet', ...output],
    {
      env: {
        PATH: process.env['PATH'],
        // The CLI may write after its end.
        HOME: ofRun,
        TMPDIR: ofRun,
        CDK_DISABLE_CLI_TELEMETRY: '1',
        CDK_VALIDATION: process.env['CDK_VALIDATION'],
        CI: '1',
        AWS_EC2_METADATA_DISABLED: 'true',
        NODE_COMPILE_CACHE: process.env['NODE_COMPILE_CACHE'],
        GOGC: process.env['GOGC'],
      },
    },
  );
  warnings = stderr;
  built = await Promise.all(functionNames.map(async (name) => ({ name, bytes: await loadedBytes(name) })));
}, 240_000);

test('cdk synth works without credentials, region and layer', async () => {
  expect(await readdir(join(folder, 'out'))).toContain('Watchpost-dev.template.json');
  expect(warnings).not.toContain('ERROR');
});

/** Lists the files of a bundle: all of them, or one and those that it imports statically. */
async function listFiles(name: string, entry: string): Promise<string[]> {
  const loaded = new Set(entry === '.' ? await readdir(join(outDir, name)) : [entry]);
  for (const file of loaded) {
    const text = await readFile(join(outDir, name, file), 'utf8');
    for (const [, imported] of text.matchAll(/(?:\bfrom|\bimport)\s*"\.\/([^"]+\.mjs)"/g))
      loaded.add(imported!);
  }
  return [...loaded];
}

/** Reads the names of the sources in those files. */
async function readSources(name: string, entry: string): Promise<string[]> {
  const files = await listFiles(name, entry);
  const maps = files.map((file) => readFile(join(outDir, 'maps', name, `${file}.map`), 'utf8'));
  return (await Promise.all(maps)).flatMap((map) => JSON.parse(map).sources);
}

/** Returns the size of what a cold start loads. */
async function loadedBytes(name: string): Promise<number> {
  const files = await listFiles(name, 'index.mjs');
  const sizes = await Promise.all(files.map((file) => stat(join(outDir, name, file))));
  return sizes.reduce((sum, { size }) => sum + size, 0);
}

describe('function bundles', () => {
  test('bundles have grown by at most 5 % (npm run bench -- sizes --record)', () => {
    expect(compareSizes(built, recorded).tooLarge).toEqual([]);
  });

  test('a cold start loads at most the limit of its function', () => {
    const kilobytes = Object.fromEntries(built.map(({ name, bytes }) => [name, Math.ceil(bytes / 1000)]));
    for (const [name, max] of Object.entries(maxKilobytes))
      expect(kilobytes[name], name).toBeLessThanOrEqual(max);
    expect(Object.keys(maxKilobytes).toSorted()).toEqual([...functionNames].toSorted());
  });

  test('only the bundle of analyze has files of model providers, and their clients', async () => {
    const bundled = await Promise.all(
      functionNames.map(async (name) => {
        const sources = await readSources(name, '.');
        return sources.some((file) => /adapters\/vision\/|client-bedrock/.test(file)) ? name : [];
      }),
    );
    expect(bundled.flat()).toEqual(['analyze']);
  });

  test('the entry of a bundle contains no library that only some calls need', async () => {
    const deferred = ['s3', 'sfn', 'sqs', 'lambda', 'cloudwatch', 'cloudwatch-logs'].map(
      (service) => `client-${service}`,
    );
    const lazy = {
      api: ['undici', 'standardwebhooks', 'temporal-polyfill', ...deferred],
      stream: ['ajv', 'undici', 'standardwebhooks', 'temporal-polyfill', ...deferred],
      reconcile: ['temporal-polyfill', 'client-sfn', 'client-sqs', 'client-lambda'],
      analyze: ['temporal-polyfill', 'client-s3', 'client-sfn', 'client-sqs', 'client-lambda'],
      deliver: ['client-s3', 'client-sqs', 'client-eventbridge'],
      capture: ['youtubei.js', 'youtube', 'twitch', 'client-s3'],
    };
    for (const [name, libraries] of Object.entries(lazy)) {
      const loaded = await readSources(name, 'index.mjs');
      const all = await readSources(name, '.');
      for (const library of libraries) {
        expect(
          all.some((file) => file.includes(`/${library}/`)),
          library,
        ).toBe(true);
        expect(
          loaded.some((file) => file.includes(`/${library}/`)),
          library,
        ).toBe(false);
      }
    }
  });

  test('each bundle has an entry, with its source maps outside the deployed folder', async () => {
    for (const name of functionNames) {
      const files = await readdir(join(outDir, name));
      expect(files).toContain('index.mjs');
      expect(files.every((file) => file.endsWith('.mjs'))).toBe(true);
      expect((await readdir(join(outDir, 'maps', name))).toSorted()).toEqual(
        files.map((file) => `${file}.map`).toSorted(),
      );
    }
    expect(await readFile(join(outDir, 'api', 'index.mjs'), 'utf8')).not.toContain('sourceMappingURL');
  });

  test('bundles load with the environment of the stack and send no request before the first event', async () => {
    const files = functionNames.map((name) => join(outDir, name, 'index.mjs'));
    const script = `
      globalThis.awslambda = { streamifyResponse: (handler) => handler };
      const loaded = await Promise.all(${JSON.stringify(files)}.map((file) => import(file)));
      console.log(loaded.map(({ handler }) => typeof handler).join());`;

    const { stdout, stderr } = await run(process.execPath, ['--input-type=module', '-e', script], {
      env: functionsEnvironment,
    });

    expect(stdout.trim()).toBe(functionNames.map(() => 'function').join());
    expect(stderr).toBe('');
  });

  test('a function with a missing variable reports it and does not start', async () => {
    const script = `await import(${JSON.stringify(join(outDir, 'reconcile', 'index.mjs'))})`;
    const { QUEUE_URL: _, ...incomplete } = functionsEnvironment;

    const failed = run(process.execPath, ['--input-type=module', '-e', script], { env: incomplete });

    await expect(failed).rejects.toThrow('QUEUE_URL');
  });

  test('the bundle of api has no MCP, and that of analyze no decoder', async () => {
    const text = async (name: string) => {
      const files = await readdir(join(outDir, name));
      return (await Promise.all(files.map((file) => readFile(join(outDir, name, file), 'utf8')))).join('\n');
    };

    expect(await text('api')).not.toContain('protocolVersion');
    expect(await text('stream')).toContain('protocolVersion');
    expect(await text('capture')).toContain('hide_banner');
    expect(await text('analyze')).not.toContain('hide_banner');
  });
});

test('the omitted parts of packages are not needed: a bundle sends requests and reads playlists without them', async () => {
  const server = createServer((_, response) => response.end('hello'));
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => void server.close());
  const address = server.address();
  const port = typeof address === 'object' ? address?.port : 0;
  const outfile = join(folder, 'egress.mjs');
  const {
    outdir: _,
    outExtension: __,
    entryPoints: ___,
    splitting: ____,
    chunkNames: _____,
    ...options
  } = bundleOptions('api', folder);
  await build({ ...options, entryPoints: ['test/lib/bundle/egress-entry.ts'], outfile });

  const { stdout } = await run(process.execPath, [outfile, `http://127.0.0.1:${port}/`]);

  expect(JSON.parse(stdout)).toEqual({
    status: 200,
    body: 'hello',
    refused: 'EgressRefusedError',
    playlist: 'media',
    error: 'EgressTimeoutError',
  });
});

test('libraries that are loaded at their first use work in a bundle', async () => {
  const later = join(folder, 'later');
  const entryPoints = {
    'api/index': 'test/lib/bundle/later-entry.ts',
    [`api/${laterPackage.file}`]: laterPackage.name,
  };
  await build({ ...bundleOptions('api', later), entryPoints });

  const { stdout, stderr } = await run(process.execPath, [join(later, 'api', 'index.mjs')]);

  expect(JSON.parse(stdout)).toEqual({
    day: { date: '2026-03-29', end: '2026-03-29T22:00:00.000Z' },
    signature: expect.objectContaining({ 'webhook-signature': expect.stringMatching(/^v1,/) }),
  });
  expect(stderr).toBe('');
});

describe('compareSizes', () => {
  test('the report contains growth and rejects more than 5 % and unrecorded functions', () => {
    const now = [
      { name: 'api', bytes: 1_049_000 },
      { name: 'stream', bytes: 1_060_000 },
      { name: 'capture', bytes: 10 },
    ] as const;

    const { lines, tooLarge } = compareSizes([...now], { api: 1_000_000, stream: 1_000_000 });

    expect(lines[0]).toMatch(/^api +1049 kB +\+4\.9 %$/);
    expect(tooLarge).toEqual(['stream', 'capture']);
  });
});
