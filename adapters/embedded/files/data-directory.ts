import { mkdir, rm, writeFile, readFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { createFolder, probeFolder, DataDirectoryError } from './create-folder.ts';
import { DatabaseSync } from 'node:sqlite';
import { z } from 'zod';

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

/**
 * Locks a directory for this process and returns a function that releases it. Throws `DataDirectoryError` if another
 * process holds the lock.
 *
 * The lock is an exclusive SQLite transaction on an empty database: an advisory lock of the operating system, which
 * ends with the process even after `kill -9`. A file with a process id would survive, and another program could have
 * that id. No other code may open `lock`: closing any handle of a file drops the locks of the process on it (POSIX). On
 * NFS, the lock is as reliable as the locks of the server.
 */
export async function lockDirectory(path: string): Promise<() => void> {
  try {
    return lock(join(path, 'lock'));
  } catch (error) {
    throw isLocked(error) ? await belongsToAnother(path, error) : cannotLock(path, error);
  }
}

function lock(file: string): () => void {
  const database = new DatabaseSync(file, { timeout: 0 });
  try {
    database.exec('BEGIN EXCLUSIVE');
  } catch (error) {
    database.close();
    throw error;
  }
  return () => database.close();
}

function isLocked(error: unknown): boolean {
  const busy = 5;
  return sqliteErrorSchema.safeParse(error).data?.errcode === busy;
}

const sqliteErrorSchema = z.object({ errcode: z.int().transform((code) => code & 0xff) });

async function belongsToAnother(path: string, cause: unknown): Promise<DataDirectoryError> {
  const pid = await readFile(join(path, 'pid'), 'utf8').catch(() => '');
  const who = /^\d+\n$/.test(pid) ? ` (process ${pid.trim()})` : '';
  return new DataDirectoryError(
    `The data directory ${path} is in use by another Watchpost${who}`,
    'Stop that process, or start this one with another data directory (--data-dir or WATCHPOST_DATA_DIR) and port.',
    { cause },
  );
}

function cannotLock(path: string, cause: unknown): DataDirectoryError {
  return new DataDirectoryError(
    `The data directory ${path} cannot be locked`,
    'Use a directory on a local disk that this user can write and that has free space.',
    { cause },
  );
}
