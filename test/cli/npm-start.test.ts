import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { expect, onTestFinished, test } from 'vitest';
import { folderOfTest } from '../support/temporary-folder.ts';

test('a SIGTERM to npm start ends the service in order, although the shell between them passes no signal on', async () => {
  const npm = spawn('npm', ['start', '--silent', '--', '--json'], {
    env: {
      ...process.env,
      WATCHPOST_PORT: '0',
      WATCHPOST_VISION: 'pixel',
      WATCHPOST_DATA_DIR: folderOfTest(),
    },
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  const lines = createInterface(npm.stdout)[Symbol.asyncIterator]();
  const { pid } = JSON.parse((await lines.next()).value ?? '');
  onTestFinished(() => {
    if (isRunning(pid)) process.kill(pid, 'SIGKILL');
  });
  npm.kill('SIGTERM');
  await once(npm, 'close');
  expect(isRunning(pid)).toBe(false);
});

function isRunning(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}
