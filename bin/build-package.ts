import { execFileSync } from 'node:child_process';
import { cpSync, globSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { z } from 'zod';

/**
 * Builds what the package of one machine runs, in `dist/package` or a named folder: the command line as JavaScript,
 * since Node strips no types below `node_modules`, and the console. `npm pack` runs it. The folder has the layout of
 * the repository.
 */

const root = fileURLToPath(new URL('..', import.meta.url));
const out = resolve(process.argv[2] ?? join(root, 'dist/package'));
const copied = [
  'console/dist',
  'cli/evaluate/basic-set',
  'lib/workflow/run.asl.json',
  'lib/workflow/bursts.asl.json',
];

rmSync(out, { recursive: true, force: true });
// `npm run check` checks the types, for ten seconds of the processor.
const options = ['-p', join(root, 'bin/tsconfig.package.json'), '--outDir', out, '--noCheck'];
execFileSync(join(root, 'node_modules/.bin/tsc'), options, { stdio: 'inherit' });
for (const path of copied) cpSync(join(root, path), join(out, path), { recursive: true });
// The compiler changes imports only; processes and threads have the address of their program.
for (const file of globSync('**/*.js', { cwd: out, exclude: ['console/**'] })) {
  const text = readFileSync(join(out, file), 'utf8');
  const changed = text.replaceAll(/(new URL\('[\w-]+)\.ts(', import\.meta\.url\))/g, '$1.js$2');
  if (changed !== text) writeFileSync(join(out, file), changed);
}
const { name, version } = z
  .object({ name: z.string(), version: z.string() })
  .parse(JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')));
writeFileSync(join(out, 'package.json'), `${JSON.stringify({ name, version, type: 'module' })}\n`);
