import { execFile } from 'node:child_process';
import { copyFileSync, mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { builtFunctions } from './built-functions.ts';

const run = promisify(execFile);
/** Packages that an app of the CDK has, and the one that the construct depends on. */
const packages = ['aws-cdk-lib', 'constructs', 'cdk-nag', 'swagger-ui-dist', '@types/node', 'undici-types'];

/** Packs the construct and makes a folder an app that has it, as npm installs it: without a source of the project. Returns the size of the package in bytes. */
export async function installConstruct(app: string): Promise<number> {
  const own = join(app, 'node_modules/watchpost-cdk');
  mkdirSync(own, { recursive: true });
  // As `npm pack ./lib`, beside which another test may pack too.
  const source = join(app, 'source');
  const functions = await builtFunctions();
  await run(process.execPath, ['lib/bundle/build-construct.ts', join(source, 'dist'), functions]);
  copyFileSync('lib/package.json', join(source, 'package.json'));
  const options = ['--ignore-scripts', '--json', '--pack-destination', app];
  const { stdout } = await run('npm', ['pack', source, ...options]);
  const [packed] = Object.values<{ filename: string; size: number }>(JSON.parse(stdout));
  await run('tar', ['-xzf', join(app, packed!.filename), '-C', own, '--strip-components=1']);
  for (const name of packages) {
    const link = join(app, 'node_modules', name);
    mkdirSync(dirname(link), { recursive: true });
    symlinkSync(resolve('node_modules', name), link);
  }
  writeFileSync(join(app, 'package.json'), '{}');
  return packed!.size;
}
