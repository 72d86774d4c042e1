import { z } from 'zod';
import { StorageError, TransientError } from '../../core/errors.ts';

/**
 * What SQLite or the file system threw, as the core may see it: `TransientError` for what passes or what an operator can
 * mend (a full disk, a lock, an unplugged volume), `StorageError` for the rest of SQLite's. Other errors come back as they are.
 */
export function storageError(error: unknown): unknown {
  const read = systemErrorSchema.safeParse(error);
  if (!read.success) return error;
  const { code, errcode } = read.data;
  // The low byte of an extended result code is its primary code (sqlite.org/rescode.html).
  const help = helpByCode.get(errcode === undefined ? code : errcode & 0xff);
  if (help !== undefined) return new TransientError(help, { cause: error });
  return errcode === undefined ? error : new StorageError('SQLite refused a statement', { cause: error });
}

const systemErrorSchema = z.object({ code: z.string(), errcode: z.int().optional() });

const full = 'The disk that holds the data directory is full: free some space, and work goes on by itself.';
const failing = 'Reading or writing the data directory failed: check its disk.';
const forbidden = 'The data directory cannot be written: check its owner, mode and mount options.';
const busy = 'Another process holds the database of the data directory: end it, or wait for it.';
const exhausted = 'The machine is out of memory or file handles.';

/** By SQLite's primary result code, or by Node's error code. */
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
  ['ENOENT', failing], // A folder was removed under our hands.
  ['EIO', failing],
  ['EMFILE', exhausted],
  ['ENFILE', exhausted],
  ['ENOMEM', exhausted],
]);
