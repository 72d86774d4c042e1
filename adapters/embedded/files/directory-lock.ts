import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { z } from 'zod';
import { DataDirectoryError } from './create-folder.ts';

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
