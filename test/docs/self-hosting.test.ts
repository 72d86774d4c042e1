import { execFileSync } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { expect, test } from 'vitest';

const unit = readFileSync('docs/operate/watchpost.service', 'utf8');

/** Option of Node that limits the memory for new objects (docs/operate/self-hosting.md). */
const youngGeneration = '--max-semi-space-size=8';

test('npm start and the container image limit the memory for new objects as the systemd unit does', () => {
  expect(readFileSync('package.json', 'utf8')).toContain(
    `"start": "node ${youngGeneration} cli/watchpost.ts start"`,
  );
  expect(readFileSync('Dockerfile', 'utf8')).toContain(
    `CMD ["node", "${youngGeneration}", "node_modules/watchpost/cli/launch.js", "start"]`,
  );
});

test('the systemd unit starts an existing program', () => {
  const [, program = '', option, script = ''] = /^ExecStart=(\S+) (--\S+) (\S+) start$/m.exec(unit) ?? [];
  expect(program).toBe('/opt/watchpost/node_modules/.bin/node');
  expect(option).toBe(youngGeneration);
  expect(script).toMatch(/^node_modules\/watchpost\//);
  expect(existsSync(script.replace('node_modules/watchpost/', ''))).toBe(true);
  expect(unit).toContain('Environment=WATCHPOST_DATA_DIR=/var/lib/watchpost\n');
});

// Requires systemd, which verifies the unit.
test.runIf(existsSync('/usr/bin/systemd-analyze'))('systemd-analyze accepts the unit', () => {
  const folder = mkdtempSync(join(tmpdir(), 'watchpost-unit-'));
  try {
    const file = join(folder, 'watchpost.service');
    writeFileSync(
      file,
      unit.replaceAll('/opt/watchpost', resolve('.')).replaceAll('=watchpost\n', '=root\n'),
    );
    expect(
      execFileSync('/usr/bin/systemd-analyze', ['verify', '--man=no', file], {
        encoding: 'utf8',
        stdio: 'pipe',
      }),
    ).toBe('');
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
});
