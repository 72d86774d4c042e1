import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readdirSync } from 'node:fs';
import { resolve } from 'node:path';
import { describe, expect, test } from 'vitest';
import { openTemporaryFolder } from '../../cli/temporary-folder.ts';
import { folderOfTest } from '../support/temporary-folder.ts';

const open = `import { openTemporaryFolder } from ${JSON.stringify(resolve('cli/temporary-folder.ts'))};
  const folder = openTemporaryFolder('of-a-command-');`;

/**
 * Runs a program that has opened a folder. Returns how it ended and what is in the temporary folder while it runs and
 * after it.
 */
async function run(program: string, signal?: NodeJS.Signals) {
  const TMPDIR = folderOfTest();
  const child = spawn(process.execPath, ['--input-type=module', '-e', `${open}\n${program}`], {
    env: { ...process.env, TMPDIR },
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  let output = '';
  child.stdout.on('data', (chunk: Buffer) => {
    output += chunk.toString();
    if (output === 'ready\n' && signal !== undefined) child.kill(signal);
  });
  const [code, by] = await once(child, 'close');
  return { code, by, output, left: readdirSync(TMPDIR) };
}

describe('a command with a temporary folder', () => {
  test('a folder that is disposed of is gone, and its listeners with it', () => {
    const before = process.listenerCount('SIGINT');
    const folder = openTemporaryFolder('of-a-test-');
    expect(existsSync(folder.path)).toBe(true);
    expect(process.listenerCount('SIGINT')).toBe(before + 1);
    folder[Symbol.dispose]();
    expect(existsSync(folder.path)).toBe(false);
    expect(process.listenerCount('SIGINT')).toBe(before);
  });

  test.each(['SIGINT', 'SIGTERM', 'SIGHUP'] as const)(
    'the folder is gone after %s, which ends the command as without a folder',
    async (signal) => {
      const ended = await run(`console.log('ready'); setInterval(() => {}, 1000);`, signal);
      expect(ended).toEqual({ code: null, by: signal, output: 'ready\n', left: [] });
    },
  );

  test('the folder stays until a command that waits for the signal itself has ended', async () => {
    const program = `import { existsSync } from 'node:fs';
      const alive = setInterval(() => {}, 1000);
      process.once('SIGINT', () => { console.log(existsSync(folder.path)); clearInterval(alive); });
      console.log('ready');`;
    expect(await run(program, 'SIGINT')).toEqual({ code: 0, by: null, output: 'ready\ntrue\n', left: [] });
  });

  test('the folder is gone after an error', async () => {
    expect(await run('throw new Error();')).toMatchObject({ code: 1, left: [] });
  });
});
