import { resolve } from 'node:path';
import { buildFunctions } from './build-functions.ts';

/** `node bundle/build.ts <outDir>` */

const [outDir] = process.argv.slice(2);
if (outDir === undefined) {
  process.stderr.write('Usage: node bundle/build.ts <outDir>\n');
  process.exitCode = 2;
} else {
  for (const { name, bytes } of await buildFunctions(resolve(outDir)))
    process.stdout.write(`${name.padEnd(10)} ${(bytes / 1000).toFixed(0).padStart(6)} kB\n`);
}
