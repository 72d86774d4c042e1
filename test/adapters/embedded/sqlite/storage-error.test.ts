import { expect, test } from 'vitest';
import { storageError } from '../../../../adapters/embedded/sqlite/transaction.ts';
import { DiskFullError, TransientError } from '../../../../core/errors.ts';

test.each([
  ['ENOSPC', 'full'],
  ['EDQUOT', 'full'],
  ['EROFS', 'cannot be written'],
  ['EIO', 'Check its disk'],
  ['ENOENT', 'Check its disk'],
  ['EMFILE', 'file handles'],
])('the code %s becomes a transient error with a remediation', (code, help) => {
  const error = storageError(Object.assign(new Error(`${code}: write '/data/x'`), { code }));

  expect(error).toBeInstanceOf(TransientError);
  expect(error instanceof DiskFullError).toBe(help === 'full');
  expect(error).toHaveProperty('message', expect.stringContaining(help));
  expect(error).not.toHaveProperty('message', expect.stringContaining('/data'));
});

test.each([
  [5, 'Another process locks'],
  [261, 'Another process locks'], // SQLITE_BUSY_RECOVERY
  [13, 'full'],
  [778, 'Check its disk'], // SQLITE_IOERR_WRITE
])('the SQLite result %i becomes a transient error with a remediation', (errcode, help) => {
  const error = storageError(Object.assign(new Error('raw'), { code: 'ERR_SQLITE_ERROR', errcode }));

  expect(error).toBeInstanceOf(TransientError);
  expect(error instanceof DiskFullError).toBe(help === 'full');
  expect(error).toHaveProperty('message', expect.stringContaining(help));
});

test('other SQLite results become a StorageError, and other errors are returned unchanged', () => {
  const refused = storageError(Object.assign(new Error('raw'), { code: 'ERR_SQLITE_ERROR', errcode: 1 }));
  const other = new RangeError('other');

  expect(refused).toMatchObject({ name: 'StorageError', message: 'SQLite rejected a statement' });
  expect(storageError(other)).toBe(other);
  expect(storageError(undefined)).toBeUndefined();
});
