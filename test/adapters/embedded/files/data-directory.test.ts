import { once } from 'node:events';
import { existsSync, mkdirSync, readdirSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { openDataDirectory } from '../../../../adapters/embedded/files/data-directory.ts';
import { DataDirectoryError } from '../../../../adapters/embedded/files/create-folder.ts';
import { killWhen, runScript } from '../child-process.ts';
import { folderOfTest } from '../../../support/temporary-folder.ts';
import { asUnprivileged, makeReadOnly } from './unprivileged.ts';

test('the data directory is created with its folders and is accessible to its owner only', async () => {
  const path = join(folderOfTest(), 'a', 'b');

  const directory = await openDataDirectory(path);

  for (const made of [path, directory.media, directory.temporary]) {
    expect(statSync(made).mode & 0o777).toBe(0o700);
  }
  directory.release();
});

test('an existing data directory keeps its mode', async () => {
  const path = join(folderOfTest(), 'shared');
  mkdirSync(path, { mode: 0o755 });

  (await openDataDirectory(path)).release();

  expect(statSync(path).mode & 0o777).toBe(0o755);
});

test('a start deletes temporary files and nothing else', async () => {
  const path = folderOfTest();
  const first = await openDataDirectory(path);
  for (const folder of [first.temporary, first.media, path]) writeFileSync(join(folder, 'left.mp4'), 'x');
  first.release();

  const second = await openDataDirectory(path);

  expect(readdirSync(second.temporary)).toEqual([]);
  expect(existsSync(join(second.media, 'left.mp4'))).toBe(true);
  expect(existsSync(join(path, 'left.mp4'))).toBe(true);
  second.release();
});

test('a symbolic link in place of the temporary folder is not followed', async () => {
  const [path, elsewhere] = [folderOfTest(), folderOfTest()];
  writeFileSync(join(elsewhere, 'precious'), 'x');
  symlinkSync(elsewhere, join(path, 'tmp'));

  (await openDataDirectory(path)).release();

  expect(existsSync(join(elsewhere, 'precious'))).toBe(true);
});

test('a second process is rejected with the id of the process that holds the directory', async () => {
  const path = folderOfTest();
  const owner = runScript('files/locking-process.ts', path);
  await once(owner.stdout, 'data');

  const second = openDataDirectory(path);

  await expect(second).rejects.toThrow(DataDirectoryError);
  await expect(second).rejects.toThrow(`${path} is in use by another Watchpost (process ${owner.pid})`);
});

test('a rejected start leaves the temporary files of the running process', async () => {
  const path = folderOfTest();
  const owner = await openDataDirectory(path);
  writeFileSync(join(owner.temporary, 'in-use.mp4'), 'x');

  await expect(openDataDirectory(path)).rejects.toThrow('in use by another Watchpost');

  expect(readdirSync(owner.temporary)).toEqual(['in-use.mp4']);
  owner.release();
  (await openDataDirectory(path)).release();
});

test('the lock is released when its process is killed, even if another process gets its id', async () => {
  const path = folderOfTest();
  await killWhen(runScript('files/locking-process.ts', path), (line) => line === 'taken');
  // The file contains the id of a running process.
  writeFileSync(join(path, 'pid'), `${process.pid}\n`);

  const directory = await openDataDirectory(path);

  expect(directory.path).toBe(path);
  directory.release();
});

test('a directory that is not writable is rejected with a remediation', async () => {
  const path = folderOfTest();
  makeReadOnly(path);
  const below = join(path, 'data');

  for (const directory of [path, below]) {
    const opening = asUnprivileged(() => openDataDirectory(directory));
    await expect(opening).rejects.toThrow(DataDirectoryError);
    await expect(opening).rejects.toMatchObject({ remediation: expect.stringContaining('can write') });
  }
});

test.each(['/proc/watchpost', '/proc/watchpost/data'])(
  'the path %s, whose parent accepts no folders, is rejected',
  async (path) => {
    await expect(openDataDirectory(path)).rejects.toMatchObject({
      message: expect.stringContaining('its parent accepts no folders'),
      remediation: expect.stringContaining('WATCHPOST_DATA_DIR'),
    });
  },
);

test('a file in place of the directory is rejected', async () => {
  const path = join(folderOfTest(), 'file');
  writeFileSync(path, 'x');

  await expect(openDataDirectory(path)).rejects.toThrow(
    `The data directory ${path} cannot be used: a file is in its place`,
  );
  await expect(openDataDirectory(join(path, 'below'))).rejects.toThrow('a file is in its place');
});
