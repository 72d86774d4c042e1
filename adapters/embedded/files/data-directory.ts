import { mkdir, rm, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { createFolder, probeFolder, DataDirectoryError } from './create-folder.ts';
import { lockDirectory } from './directory-lock.ts';

/** Paths of the data directory, absolute. `media` and `temporary` exist. */
export type DataDirectory = {
  path: string;
  database: string;
  masterSecret: string;
  media: string;
  /** Folder that is emptied at every start. */
  temporary: string;
  /** Releases the lock, so that another process can use the directory. */
  release(): void;
};

/**
 * Creates the directory if it is missing (mode 0700), locks it for this process, and empties its temporary folder.
 * Throws `DataDirectoryError` if it is unusable or another running process holds it.
 */
export async function openDataDirectory(directory: string): Promise<DataDirectory> {
  const path = resolve(directory);
  const paths = dataPaths(path);
  await usable(path, () => createFolder(path));
  const release = await lockDirectory(path);
  try {
    await usable(path, async () => {
      await mkdir(paths.media, { recursive: true, mode: 0o700 });
      // If the path is a symbolic link, this removes the link and not its target.
      await rm(paths.temporary, { recursive: true, force: true });
      await mkdir(paths.temporary, { mode: 0o700 });
      await writeFile(join(path, 'pid'), `${process.pid}\n`, { mode: 0o600 });
    });
    return { ...paths, release };
  } catch (error) {
    release();
    throw error;
  }
}

/**
 * Verifies that a service could use the directory, and changes nothing. Throws `DataDirectoryError` if it is unusable.
 */
export async function probeDataDirectory(directory: string): Promise<void> {
  const path = resolve(directory);
  await usable(path, () => probeFolder(path));
}

/**
 * Returns the paths without locking, for commands that run beside the service. Only the database supports two
 * processes.
 */
export function dataPaths(directory: string): Omit<DataDirectory, 'release'> {
  const path = resolve(directory);
  return {
    path,
    database: join(path, 'watchpost.sqlite'),
    masterSecret: join(path, 'master-secret'),
    media: join(path, 'media'),
    temporary: join(path, 'tmp'),
  };
}

async function usable(path: string, work: () => Promise<unknown>): Promise<void> {
  try {
    await work();
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? String(error.code) : '';
    const reason = reasons.get(code) ?? (code || String(error));
    throw new DataDirectoryError(
      `The data directory ${path} cannot be used: ${reason}`,
      'Set --data-dir or WATCHPOST_DATA_DIR to a directory that this user can write and that has free space.',
      { cause: error },
    );
  }
}

const reasons = new Map([
  ['ENOTDIR', 'a file is in its place'],
  ['EACCES', 'this user may not write to it'],
  ['EPERM', 'this user may not write to it'],
  ['EROFS', 'it is on a read-only file system'],
  ['ENOENT', 'its parent accepts no folders'],
  ['ENOSPC', 'its disk is full'],
]);
