import { z } from 'zod';
import { DiskFullError, StorageError, TransientError } from '../../../core/errors.ts';

/**
 * Maps errors of SQLite and of the file system: `TransientError` for faults that pass or that an operator can fix (a
 * full disk, a lock, an unmounted volume), `StorageError` for other SQLite errors. Returns any other error unchanged.
 */
export function storageError(error: unknown): unknown {
  const read = systemErrorSchema.safeParse(error);
  if (!read.success) return error;
  const { code, errcode } = read.data;
  // The low byte of an extended result code is its primary code (sqlite.org/rescode.html).
  const help = helpByCode.get(errcode === undefined ? code : errcode & 0xff);
  if (help === full) return new DiskFullError(help, { cause: error });
  if (help !== undefined) return new TransientError(help, { cause: error });
  return errcode === undefined ? error : new StorageError('SQLite rejected a statement', { cause: error });
}

const systemErrorSchema = z.object({ code: z.string(), errcode: z.int().optional() });

const full = 'The disk of the data directory is full. Free some space; the service then continues.';
const failing = 'The data directory could not be read or written. Check its disk.';
const forbidden = 'The data directory cannot be written. Check its owner, mode and mount options.';
const busy = 'Another process locks the database of the data directory. End that process, or wait for it.';
const exhausted = 'The machine is out of memory or file handles.';

/** Remediation by SQLite's primary result code or Node's error code. */
const helpByCode = new Map<number | string, string>([
  [5, busy], // SQLITE_BUSY
  [6, busy], // SQLITE_LOCKED
  [7, exhausted], // SQLITE_NOMEM
  [8, forbidden], // SQLITE_READONLY
  [10, failing], // SQLITE_IOERR
  [13, full], // SQLITE_FULL
  [14, forbidden], // SQLITE_CANTOPEN
  ['ERR_INVALID_STATE', 'The store is closed: the service is stopping.'],
  ['ENOSPC', full],
  ['EDQUOT', full],
  ['EACCES', forbidden],
  ['EPERM', forbidden],
  ['EROFS', forbidden],
  ['ENOENT', failing], // A folder was removed while the service was running.
  ['EIO', failing],
  ['EMFILE', exhausted],
  ['ENFILE', exhausted],
  ['ENOMEM', exhausted],
]);
