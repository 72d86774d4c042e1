import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, onTestFinished, test } from 'vitest';
import { folderOfTest } from '../support/temporary-folder.ts';

/** Starts the service in a shell that passes no signal on, as npm does, and ends the shell. Returns whether the service ends too. */
async function endsWithShell(script: string | undefined): Promise<boolean> {
  const path = folderOfTest();
  const command = `"${process.execPath}" --max-semi-space-size=8 cli/watchpost.ts start --json & echo $!; wait`;
  const shell = spawn('/bin/sh', ['-c', command], {
    env: {
      ...process.env,
      npm_lifecycle_script: script,
      WATCHPOST_PORT: '0',
      WATCHPOST_VISION: 'pixel',
      WATCHPOST_DATA_DIR: path,
    },
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  const lines = createInterface(shell.stdout)[Symbol.asyncIterator]();
  const pid = Number((await lines.next()).value);
  onTestFinished(() => {
    if (isRunning(pid)) process.kill(pid, 'SIGKILL');
  });
  expect(await lines.next()).toMatchObject({ value: expect.stringContaining('base_url') });
  shell.kill('SIGTERM');
  await once(shell, 'exit');
  for (let waited = 0; waited < 100; waited += 1) {
    if (!isRunning(pid)) return true;
    if (script === undefined && waited === 15) return false;
    await sleep(100);
  }
  return false;
}

function isRunning(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}

test('the service of npm start ends with the shell that npm ends, and another one outlives its shell', async () => {
  const npm = 'node --max-semi-space-size=8 cli/watchpost.ts start';
  expect(await Promise.all([endsWithShell(npm), endsWithShell(undefined)])).toEqual([true, false]);
});
