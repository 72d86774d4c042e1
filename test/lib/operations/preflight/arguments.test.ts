import { spawnSync } from 'node:child_process';
import { expect, test } from 'vitest';

function preflight(...given: string[]) {
  return spawnSync(process.execPath, ['bin/preflight.ts', ...given], { encoding: 'utf8' });
}

test('--help of preflight prints its usage', () => {
  expect(preflight('--help')).toMatchObject({
    status: 0,
    stdout: 'Usage: npm run preflight -- -c stage=NAME [--json]\n',
    stderr: '',
  });
});

test('an unknown option of preflight is one line', () => {
  const { status, stderr } = preflight('--nope');
  expect(status).toBe(2);
  expect(stderr).toMatch(/^Unknown option '--nope'.*\n$/);
});
