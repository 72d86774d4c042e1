import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { copyFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { startLiveHls } from '../../cli/demo/live-hls.ts';
import { startService } from '../support/service-process.ts';
import { openTemporaryFolder } from '../../cli/temporary-folder.ts';

/**
 * `npm run check -- client`: a client generated from `/openapi.json` by a public generator compiles, makes a monitor on
 * the running service, reads it and cancels it. The generator needs a TypeScript of its own, so it is installed into a
 * temporary folder.
 */

const packages = ['openapi-typescript@7.13.0', 'openapi-fetch@0.17.0', 'typescript@5.9.3', '@types/node@24'];
using temporary = openTemporaryFolder('watchpost-client-');
const directory = temporary.path;
const at = (...names: string[]) => join(directory, ...names);
const bin = (name: string) => at('node_modules', '.bin', name);

await step('install', 'npm', [
  'install',
  '--prefix',
  directory,
  '--no-audit',
  '--no-fund',
  '--loglevel=error',
  ...packages,
]);
const stream = await startLiveHls({
  ffmpegPath: process.env['WATCHPOST_FFMPEG'] ?? 'ffmpeg',
  inputArgs: ['-re', '-f', 'lavfi', '-i', 'testsrc2=size=640x360:rate=10'],
  segmentSeconds: 1,
  host: '127.0.0.1',
});
const service = await startService(at('data'));
try {
  const document = await fetch(new URL('/openapi.json', service.baseUrl));
  writeFileSync(at('openapi.json'), await document.text());
  await step('generate', bin('openapi-typescript'), [
    at('openapi.json'),
    '--output',
    at('api.d.ts'),
    // A field with a default may be left out.
    '--default-non-nullable=false',
  ]);
  writeFileSync(at('package.json'), JSON.stringify({ type: 'module' }));
  copyFileSync(new URL('make-monitor.ts.txt', import.meta.url), at('make-monitor.ts'));
  const strict = ['--strict', '--exactOptionalPropertyTypes', '--noUncheckedIndexedAccess'];
  const modern = ['--target', 'es2024', '--module', 'nodenext', '--allowImportingTsExtensions', '--noEmit'];
  await step('compile', bin('tsc'), [...strict, ...modern, at('make-monitor.ts')]);
  await step('run', process.execPath, [at('make-monitor.ts'), service.baseUrl, service.apiKey, stream.url]);
} finally {
  await service.kill('SIGTERM');
  await stream.close();
}

/** Not waited for in the way: the stream is served by this process. */
async function step(name: string, command: string, args: string[]): Promise<void> {
  const startedAt = performance.now();
  const child = spawn(command, args, { cwd: directory, stdio: ['ignore', 'inherit', 'inherit'] });
  const [code] = await once(child, 'close');
  if (code !== 0) throw new Error(`${name} failed`);
  console.log(`${name}: ${((performance.now() - startedAt) / 1000).toFixed(1)} s`);
}
