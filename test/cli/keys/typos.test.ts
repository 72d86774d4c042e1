import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { beforeEach, describe, expect, test } from 'vitest';
import { createCallerStore } from '../../../adapters/embedded/callers/caller-store.ts';
import { openDatabase } from '../../../adapters/embedded/sqlite/database.ts';
import { dataPaths } from '../../../adapters/embedded/files/data-directory.ts';
import { addKeys } from '../../../cli/commands/keys.ts';
import { findNearestName } from '../../../core/nearest-name.ts';
import { newCaller } from '../../../core/records/caller.ts';
import { start } from '../../contract/records.ts';
import { runCommand } from '../../support/run-command.ts';
import { folderOfTest } from '../../support/temporary-folder.ts';

let dataDir: string;

beforeEach(async () => {
  dataDir = folderOfTest();
  const database = openDatabase(dataPaths(dataDir).database);
  await createCallerStore(database).add(newCaller('default', null, start));
  database.close();
});

async function keys(...args: string[]) {
  const place = args.includes('--data-dir') ? [] : ['--data-dir', dataDir];
  const run = runCommand(addKeys, 'keys', ...args, ...place);
  const failed = (error: unknown) => error as { code: number; stdout: string; stderr: string };
  return run.then((done) => ({ code: 0, ...done }), failed);
}

/** Runs the command at a pseudo-terminal, and answers its question. */
const terminalScript = `
import os, pty, sys
answer, node, folder = sys.argv[1:]
process, terminal = pty.fork()
if process == 0:
    os.execv(node, [node, 'cli/watchpost.ts', 'keys', 'create', '--caller', 'deafult', '--data-dir', folder])
shown = b''
answered = False
while True:
    try:
        part = os.read(terminal, 4096)
    except OSError:
        break
    if not part:
        break
    shown += part
    if b'[y/N]' in shown and not answered:
        os.write(terminal, answer.encode().decode('unicode_escape').encode())
        answered = True
print(shown.decode(errors='replace'))
print('code', os.waitstatus_to_exitcode(os.waitpid(process, 0)[1]))
`;

describe('watchpost keys with a typing error', () => {
  test('a key command for a mistyped data directory is rejected and creates nothing', async () => {
    const typo = join(dataDir, 'watchpsot');

    const { code, stderr } = await keys('list', '--data-dir', typo);

    expect(code).toBe(1);
    expect(stderr).toContain(`No service has used the data directory ${typo}`);
    expect(stderr).toContain('--data-dir or WATCHPOST_DATA_DIR');
    expect(existsSync(typo)).toBe(false);
  });

  test('a key for a mistyped caller is rejected with the near name, and no caller is created', async () => {
    const { code, stderr, stdout } = await keys('create', '--caller', 'deafult');

    expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
    expect(stderr).toContain('There is no caller deafult. Did you mean default?');
    expect(stderr).toContain('--new-caller');
    expect((await keys('list')).stdout).toBe('');
  });

  test.each([
    ['y\\n', 0, 'API key of deafult'],
    ['n\\n', 1, 'There is no caller deafult'],
    ['\\x04', 1, 'Use --caller'],
  ])(
    'a terminal is asked for a mistyped caller, and the answer %s ends with code %i',
    async (answer, code, text) => {
      const { stdout } = await promisify(execFile)('python3', [
        '-c',
        terminalScript,
        answer,
        process.execPath,
        dataDir,
      ]);
      expect(stdout).toContain('There is no caller deafult. Did you mean default? Create it? [y/N]');
      expect(stdout).toContain(text);
      expect(stdout).not.toContain('    at ');
      expect(stdout.trim().split('\n').at(-1)).toBe(`code ${code}`);
    },
  );

  test('a new caller is created on request', async () => {
    expect((await keys('create', '--caller', 'alice', '--new-caller')).stdout).toMatch(/^wp_/);
    expect((await keys('create', '--caller', 'alice')).code).toBe(0);
  });

  test('a name that no caller can have is an error of one line with what to do', async () => {
    const { code, stderr } = await keys('list', '--caller', 'Lock Haus');
    expect(code).toBe(1);
    expect(stderr).toContain('at caller');
    expect(stderr).not.toContain('ZodError');
  });

  test('a list of the keys of a mistyped caller names the near caller', async () => {
    expect((await keys('list', '--caller', 'defalt')).stderr).toContain('Did you mean default?');
  });
});

test.each([
  ['deafult', 'default'],
  ['Default', 'default'],
  ['defaul', 'default'],
  ['harbor', 'harbour'],
  ['opps', 'ops'],
  ['alice', undefined],
  ['o', undefined],
])('the name nearest to %s is %s', (name, nearest) => {
  expect(findNearestName(name, ['default', 'harbour', 'ops'])).toBe(nearest);
});
