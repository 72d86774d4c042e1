import { access, constants, mkdir, mkdtemp, rmdir, stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';

/** Data directory that the service cannot use. Thrown at start: the CLI prints the message and ends the process. */
export class DataDirectoryError extends Error {
  override readonly name = 'DataDirectoryError';
  readonly remediation: string;

  constructor(message: string, remediation: string, options?: ErrorOptions) {
    super(message, options);
    this.remediation = remediation;
  }
}

/**
 * Creates a folder and its missing parents (mode 0700), and verifies that this user can write to it. Throws errors of
 * the file system. The recursive mode of Node repeats forever where a parent exists but accepts no folders, as below
 * `/proc`.
 */
export async function createFolder(path: string): Promise<void> {
  await createMissing(path);
  await access(path, constants.W_OK | constants.X_OK);
}

/** Verifies that `createFolder` would succeed, and leaves nothing behind. Throws errors of the file system. */
export async function probeFolder(path: string): Promise<void> {
  const present = await stat(path).catch(ignoreMissing);
  if (present === undefined && dirname(path) !== path) return probeFolder(dirname(path));
  if (!present?.isDirectory()) throw Object.assign(new Error(`${path} is not a folder`), { code: 'ENOTDIR' });
  // A trial: permissions do not tell of read-only file systems and of those that accept no folders.
  await rmdir(await mkdtemp(join(path, '.watchpost-')));
}

async function createMissing(path: string): Promise<void> {
  const present = await stat(path).catch(ignoreMissing);
  if (present?.isDirectory()) return;
  if (present) throw Object.assign(new Error(`${path} is not a folder`), { code: 'ENOTDIR' });
  const parent = dirname(path);
  if (parent !== path) await createMissing(parent);
  await mkdir(path, { mode: 0o700 }).catch(ignoreExisting);
}

function ignoreMissing(error: unknown): undefined {
  if (!hasCode(error, 'ENOENT')) throw error;
}

/** Ignores a folder that another process created in between. */
function ignoreExisting(error: unknown): void {
  if (!hasCode(error, 'EEXIST')) throw error;
}

function hasCode(error: unknown, code: string): boolean {
  return error instanceof Error && 'code' in error && error.code === code;
}
