import { randomBytes, randomUUID } from 'node:crypto';
import { link, open, readFile, rm } from 'node:fs/promises';
import { DataDirectoryError } from './data-directory-error.ts';

/**
 * The 32 bytes that the callers' webhook secrets are derived from: read from the file (mode 0600), or made there at first.
 * Throws `DataDirectoryError` for a file that holds anything else.
 */
export async function loadOrCreateMasterSecret(path: string): Promise<Buffer> {
  const stored = await readStored(path);
  if (stored !== undefined) return decode(stored);
  await make(path);
  return decode((await readStored(path)) ?? '');
}

async function readStored(path: string): Promise<string | undefined> {
  try {
    return await readFile(path, 'utf8');
  } catch (error) {
    if (hasCode(error, 'ENOENT')) return undefined;
    throw unusable('The master secret cannot be read', error);
  }
}

/** Linked under its name only when it is whole; of two processes that make one at once, the first wins. */
async function make(path: string): Promise<void> {
  const partial = `${path}.${randomUUID()}.part`;
  try {
    await using file = await open(partial, 'wx', 0o600);
    await file.writeFile(`${randomBytes(32).toString('base64')}\n`);
    await file.sync();
    await link(partial, path);
  } catch (error) {
    if (!hasCode(error, 'EEXIST')) throw unusable('The master secret cannot be written', error);
  } finally {
    await rm(partial, { force: true });
  }
}

function decode(text: string): Buffer {
  const secret = Buffer.from(text, 'base64');
  if (secret.length !== 32) throw unusable('The file of the master secret holds no secret of 32 bytes');
  return secret;
}

function unusable(message: string, cause?: unknown): DataDirectoryError {
  return new DataDirectoryError(
    message,
    'Restore it from a backup of the data directory. Removing it makes a new one, and gives every caller a new webhook secret.',
    { cause },
  );
}

function hasCode(error: unknown, code: string): boolean {
  return error instanceof Error && 'code' in error && error.code === code;
}
