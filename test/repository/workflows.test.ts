import { execFile } from 'node:child_process';
import { cpSync, globSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { describe, expect, test } from 'vitest';
import { pythonTool } from '../support/python/python-tool.ts';

const run = promisify(execFile);
const workflows = globSync('.github/workflows/*.yml').toSorted();
const validate = await pythonTool('check-jsonschema');
const audit = await pythonTool('zizmor');

describe('files that GitHub reads', () => {
  test.skipIf(!validate).each([
    ['github-workflows', workflows],
    ['dependabot', ['.github/dependabot.yml']],
    ['github-issue-config', ['.github/ISSUE_TEMPLATE/config.yml']],
    ['github-issue-forms', ['.github/ISSUE_TEMPLATE/bug.yml', '.github/ISSUE_TEMPLATE/feature.yml']],
    ['compose-spec', ['compose.yaml']],
  ])('the schema %s accepts %j', { timeout: 360_000 }, async (schema, files) => {
    const { exitCode, stdout } = await validate!('--builtin-schema', `vendor.${schema}`, ...files);
    expect(stdout).toContain('ok -- validation done');
    expect(exitCode).toBe(0);
  });

  test.skipIf(!audit)(
    'the workflows and dependabot.yml pass the security audit of zizmor',
    { timeout: 360_000 },
    async () => {
      const { exitCode, stdout, stderr } = await audit!(
        '--offline',
        '--no-progress',
        '--persona=pedantic',
        '--format=plain',
        '.github',
      );
      expect(stdout, stderr).toContain('No findings to report');
      expect(exitCode).toBe(0);
    },
  );
});

describe('workflows', () => {
  test('a release runs what is too long for each change', () => {
    const release = readFileSync('.github/workflows/release.yml', 'utf8');
    for (const command of ['test:aws -- --all', 'simulate -- kinds'])
      expect(release).toContain(`- run: npm run ${command}\n`);
  });

  test('every action is pinned by its commit, with the version beside it', () => {
    for (const file of workflows)
      for (const [line] of readFileSync(file, 'utf8').matchAll(/^.*\buses:.*$/gm))
        expect(line, file).toMatch(/uses: [\w-]+\/[\w-]+@[\da-f]{40} # v\d+\.\d+\.\d+$/);
  });

  test('an action has one commit in all workflows', () => {
    const pins = workflows.flatMap((file) => [
      ...readFileSync(file, 'utf8').matchAll(/uses: ([\w-]+\/[\w-]+)@(\S+)/g),
    ]);
    const commits = Map.groupBy(pins, ([, action]) => action);
    for (const [action, found] of commits)
      expect(new Set(found.map(([, , commit]) => commit)).size, action).toBe(1);
  });

  test('the packages that CI installs are those that the tests ask for', () => {
    const installer = readFileSync('test/support/runner/packages.ts', 'utf8');
    const needed = [...installer.matchAll(/'((?:gir1\.2-|gstreamer1\.0-|python3-gi)[^']*)'/g)];
    expect(needed.length).toBeGreaterThan(4);
    for (const file of workflows)
      for (const [, name = ''] of needed) expect(readFileSync(file, 'utf8'), file).toContain(name);
  });
});

describe('release notes', () => {
  const print = async (tag: string, changelog?: string) => {
    const root = mkdtempSync(join(tmpdir(), 'watchpost-release-'));
    try {
      for (const file of ['package.json', 'client/package.json', 'lib/package.json', 'CHANGELOG.md'])
        cpSync(file, join(root, file));
      if (changelog !== undefined) writeFileSync(join(root, 'CHANGELOG.md'), changelog);
      const script = resolve('test/repository/release-notes-process.ts');
      return await run(process.execPath, [script, tag], { cwd: root }).then(
        ({ stdout }) => stdout,
        (failure: { stderr: string }) => failure.stderr,
      );
    } finally {
      rmSync(root, { recursive: true });
    }
  };
  const { version } = JSON.parse(readFileSync('package.json', 'utf8'));

  test('the section of the tag is printed, without its heading and without other sections', async () => {
    const changelog = `# C\n\n## [Unreleased]\n\n- c\n\n## [${version}] - 2026-01-02\n\n### Added\n\n- b\n\n## [0.0.1] - 2026-01-01\n\n- a\n`;
    expect(await print(`v${version}`, changelog)).toBe('### Added\n\n- b\n');
  });

  test('a tag without a section in the changelog is rejected, with the remedy', async () => {
    expect(await print(`v${version}`, '# C\n\n## [Unreleased]\n')).toContain('Rename "Unreleased" to it');
  });

  test.each(['v99.0.0', '1.2.3', 'v1', 'main'])('the tag %s is rejected', async (tag) => {
    expect(await print(tag)).toMatch(/^The tag /);
  });
});
