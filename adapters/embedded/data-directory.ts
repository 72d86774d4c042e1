import { mkdir, rm, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { DataDirectoryError } from './data-directory-error.ts';
import { lockDirectory } from './directory-lock.ts';

/** Where the embedded mode keeps everything. Paths are absolute; `media` and `temporary` exist. */
export type DataDirectory = {
  path: string;
  database: string;
  masterSecret: string;
  media: string;
  /** Emptied at every start. */
  temporary: string;
  /** Gives the directory up for another process. */
  release(): void;
};

/**
 * Makes the directory if it is missing (mode 0700), takes it for this process, and empties its temporary files.
 * Throws `DataDirectoryError` when it cannot be used, or belongs to a process that runs.
 */
export async function openDataDirectory(directory: string): Promise<DataDirectory> {
  const path = resolve(directory);
  const paths = dataPaths(path);
  await usable(path, () => mkdir(path, { recursive: true, mode: 0o700 }));
  const release = await lockDirectory(path);
  try {
    await usable(path, async () => {
      await mkdir(paths.media, { recursive: true, mode: 0o700 });
      // Removes a symbolic link rather than what it leads to.
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

/** For a command that works beside the service, or without it: only the database may be opened by two. */
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
    const code = error instanceof Error && 'code' in error ? String(error.code) : 'unknown error';
    throw new DataDirectoryError(
      `The data directory ${path} cannot be used (${code})`,
      'Give a directory that this user may write and that has free space, by --data-dir or WATCHPOST_DATA_DIR.',
      { cause: error },
    );
  }
}
