import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { z } from 'zod';
import { DataDirectoryError } from './data-directory-error.ts';

/**
 * Takes a directory for this process; the function that comes back gives it up. Throws `DataDirectoryError` when another
 * process has it.
 *
 * The lock is the one that SQLite holds on an empty database of its own: an advisory lock of the operating system, which ends with the
 * process however that ends. A file with a process id would outlive `kill -9`, and the id may be another program's by then.
 * Nobody else may open `lock`: closing any handle of a file drops the process's locks on it (POSIX). On NFS it is as good as the server's locks.
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
    'Give a directory on a local disk that this user may write and that has free space.',
    { cause },
  );
}
