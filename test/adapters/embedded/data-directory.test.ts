import { once } from 'node:events';
import { existsSync, mkdirSync, readdirSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { openDataDirectory } from '../../../adapters/embedded/data-directory.ts';
import { DataDirectoryError } from '../../../adapters/embedded/data-directory-error.ts';
import { killWhen, runScript } from './child-process.ts';
import { temporaryDirectory } from './temporary-directory.ts';
import { asUnprivileged, makeReadOnly } from './unprivileged.ts';

describe('The data directory', () => {
  it('is made with its folders, for its owner only', async () => {
    const path = join(temporaryDirectory(), 'a', 'b');

    const directory = await openDataDirectory(path);

    for (const made of [path, directory.media, directory.temporary]) {
      expect(statSync(made).mode & 0o777).toBe(0o700);
    }
    directory.release();
  });

  it('that was there before keeps its mode', async () => {
    const path = join(temporaryDirectory(), 'shared');
    mkdirSync(path, { mode: 0o755 });

    (await openDataDirectory(path)).release();

    expect(statSync(path).mode & 0o777).toBe(0o755);
  });

  it('loses its temporary files at a start, and nothing else', async () => {
    const path = temporaryDirectory();
    const first = await openDataDirectory(path);
    for (const folder of [first.temporary, first.media, path]) writeFileSync(join(folder, 'left.mp4'), 'x');
    first.release();

    const second = await openDataDirectory(path);

    expect(readdirSync(second.temporary)).toEqual([]);
    expect(existsSync(join(second.media, 'left.mp4'))).toBe(true);
    expect(existsSync(join(path, 'left.mp4'))).toBe(true);
    second.release();
  });

  it('does not follow a link in the place of its temporary files', async () => {
    const [path, elsewhere] = [temporaryDirectory(), temporaryDirectory()];
    writeFileSync(join(elsewhere, 'precious'), 'x');
    symlinkSync(elsewhere, join(path, 'tmp'));

    (await openDataDirectory(path)).release();

    expect(existsSync(join(elsewhere, 'precious'))).toBe(true);
  });

  it('belongs to one process at a time, and says which', async () => {
    const path = temporaryDirectory();
    const owner = runScript('locking-process.ts', path);
    await once(owner.stdout, 'data');

    const second = openDataDirectory(path);

    await expect(second).rejects.toThrow(DataDirectoryError);
    await expect(second).rejects.toThrow(`${path} is in use by another Watchpost (process ${owner.pid})`);
  });

  it('is refused without touching the temporary files of the one who has it', async () => {
    const path = temporaryDirectory();
    const owner = await openDataDirectory(path);
    writeFileSync(join(owner.temporary, 'in-use.mp4'), 'x');

    await expect(openDataDirectory(path)).rejects.toThrow('in use by another Watchpost');

    expect(readdirSync(owner.temporary)).toEqual(['in-use.mp4']);
    owner.release();
    (await openDataDirectory(path)).release();
  });

  it('is free again when the process that had it is killed, whoever has its process id by then', async () => {
    const path = temporaryDirectory();
    await killWhen(runScript('locking-process.ts', path), (line) => line === 'taken');
    // The id in the file is that of a process which runs.
    writeFileSync(join(path, 'pid'), `${process.pid}\n`);

    const directory = await openDataDirectory(path);

    expect(directory.path).toBe(path);
    directory.release();
  });

  it('that cannot be written is refused, and says what to do', async () => {
    const path = temporaryDirectory();
    makeReadOnly(path);
    const below = join(path, 'data');

    for (const directory of [path, below]) {
      const opening = asUnprivileged(() => openDataDirectory(directory));
      await expect(opening).rejects.toThrow(DataDirectoryError);
      await expect(opening).rejects.toMatchObject({ remediation: expect.stringContaining('may write') });
    }
  });

  it('in the place of a file is refused', async () => {
    const path = join(temporaryDirectory(), 'file');
    writeFileSync(path, 'x');

    await expect(openDataDirectory(path)).rejects.toThrow(
      `The data directory ${path} cannot be used (EEXIST)`,
    );
    await expect(openDataDirectory(join(path, 'below'))).rejects.toThrow('cannot be used (ENOTDIR)');
  });
});
