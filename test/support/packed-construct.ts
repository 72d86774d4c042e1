import { execFile } from 'node:child_process';
import { copyFileSync, globSync, mkdirSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { builtFunctions, builtOnce } from './built-functions.ts';

const run = promisify(execFile);
/** Packages that an app of the CDK has, and the one that the construct depends on. */
const packages = ['aws-cdk-lib', 'constructs', 'cdk-nag', 'swagger-ui-dist', '@types/node', 'undici-types'];

/**
 * Makes a folder an app that has the packed construct, as npm installs it: without a source of the project. Returns the
 * size of the package in bytes.
 */
export async function installConstruct(app: string): Promise<number> {
  const own = join(app, 'node_modules/watchpost-cdk');
  mkdirSync(own, { recursive: true });
  const [tarball = ''] = globSync(join(await builtOnce('construct', pack), '*.tgz'));
  await run('tar', ['-xzf', tarball, '-C', own, '--strip-components=1']);
  for (const name of packages) {
    const link = join(app, 'node_modules', name);
    mkdirSync(dirname(link), { recursive: true });
    symlinkSync(resolve('node_modules', name), link);
  }
  writeFileSync(join(app, 'package.json'), '{}');
  return statSync(tarball).size;
}

/** As `npm pack ./lib`, beside which another test may pack too. */
async function pack(folder: string): Promise<void> {
  const source = join(folder, 'source');
  mkdirSync(source, { recursive: true });
  const functions = await builtFunctions();
  await run(process.execPath, ['lib/bundle/build-construct.ts', join(source, 'dist'), functions]);
  copyFileSync('lib/package.json', join(source, 'package.json'));
  await run('npm', ['pack', source, '--ignore-scripts', '--pack-destination', folder]);
}
