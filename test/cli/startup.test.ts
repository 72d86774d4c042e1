import { spawnSync } from 'node:child_process';
import { globSync, readFileSync } from 'node:fs';
import { build } from 'esbuild';
import { expect, test } from 'vitest';

const { metafile } = await build({
  entryPoints: ['cli/watchpost.ts', 'cli/limited-start.ts'],
  outdir: 'out',
  bundle: true,
  write: false,
  metafile: true,
  platform: 'node',
  format: 'esm',
  packages: 'external',
});

/** Returns the files and packages that a file imports before it runs. */
function listImports(entry: string): string[] {
  const loaded = new Set([entry]);
  for (const file of loaded)
    for (const { path, kind } of metafile.inputs[file]?.imports ?? [])
      if (kind === 'import-statement') loaded.add(path);
  return [...loaded];
}

test('the command line loads the service only for the commands that run it', () => {
  const files = Object.keys(metafile.inputs);
  expect(files).toContain('cli/service/service.ts');
  expect(globSync('cli/commands/*.ts').filter((file) => !files.includes(file))).toEqual([]);
  const late = listImports('cli/watchpost.ts').filter((file) => /^cli\/(?:commands|service)\//.test(file));
  expect(late).toEqual([]);
});

test('a start loads no library of MCP, MQTT and e-mail, and decides about its own process before all others', () => {
  const imports = listImports('cli/service/run-service.ts');
  expect(imports).toContain('undici');
  expect(imports.filter((path) => /^(?:@modelcontextprotocol|mqtt|nodemailer)/.test(path))).toEqual([]);
  expect(listImports('cli/limited-start.ts')).toEqual(['cli/limited-start.ts', 'cli/limit-new-objects.ts']);
  const launcher = readFileSync('cli/launch.js', 'utf8');
  const [first] = launcher.match(/import\('[^']+'\)/g) ?? [];
  expect(first).toBe("import('../dist/package/cli/limited-start.js')");
});

test('the help lists every command in order, also for a name that is unknown', async () => {
  const help = spawnSync(process.execPath, ['cli/watchpost.ts', '--help'], { encoding: 'utf8' }).stdout;
  const listed = [...help.matchAll(/^  ([a-z-]+)(?: |$)/gm)].map(([, name]) => name);
  expect(listed.slice(0, 3)).toEqual(['start', 'demo', 'stream']);
  expect(listed).toEqual(expect.arrayContaining(['accept-secret', 'keys', 'usage', 'callers', 'watch']));
  const unknown = spawnSync(process.execPath, ['cli/watchpost.ts', 'demmo'], { encoding: 'utf8' });
  expect(unknown.stderr).toContain('Did you mean demo?');
});
