import { readdirSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setImmediate } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';
import { DataDirectoryError } from '../../../adapters/embedded/data-directory-error.ts';
import { loadOrCreateMasterSecret } from '../../../adapters/embedded/master-secret.ts';
import { temporaryDirectory } from './temporary-directory.ts';

describe('The master secret', () => {
  test('the master secret is created once, is readable by its owner only, and stays the same', async () => {
    const directory = temporaryDirectory();
    const path = join(directory, 'master-secret');

    const made = await loadOrCreateMasterSecret(path);

    expect(made).toHaveLength(32);
    expect(statSync(path).mode & 0o777).toBe(0o600);
    expect(readdirSync(directory)).toEqual(['master-secret']);
    expect(await loadOrCreateMasterSecret(path)).toEqual(made);
    expect(await loadOrCreateMasterSecret(join(directory, 'other'))).not.toEqual(made);
  });

  test('the first of two concurrent processes creates the master secret', async () => {
    const directory = temporaryDirectory();
    const path = join(directory, 'master-secret');
    const others = Buffer.alloc(32, 9);

    const making = loadOrCreateMasterSecret(path);
    while (!readdirSync(directory).some((name) => name.endsWith('.part'))) await setImmediate();
    writeFileSync(path, others.toString('base64'), { flag: 'wx' });

    expect(await making).toEqual(others);
    expect(readdirSync(directory)).toEqual(['master-secret']);
  });

  test.each(['', 'c2hvcnQ=\n'])(
    'a file that holds %j is not replaced by a new master secret',
    async (content) => {
      const path = join(temporaryDirectory(), 'master-secret');
      writeFileSync(path, content);

      await expect(loadOrCreateMasterSecret(path)).rejects.toThrow(DataDirectoryError);
      expect(statSync(path).size).toBe(content.length);
    },
  );
});
