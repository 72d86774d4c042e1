import { randomBytes, randomUUID } from 'node:crypto';
import { link, open, readFile, rm } from 'node:fs/promises';
import { DataDirectoryError } from './data-directory-error.ts';

/**
 * Returns the 32 bytes from which webhook secrets are derived. Reads them from the file, or creates it (mode 0600). Throws
 * `DataDirectoryError` if the file has other content.
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

/**
 * Writes a temporary file and links it under the final name when it is complete. If two processes create one concurrently, the
 * first wins.
 */
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
  if (secret.length !== 32) throw unusable('The master secret file does not hold a secret of 32 bytes');
  return secret;
}

function unusable(message: string, cause?: unknown): DataDirectoryError {
  return new DataDirectoryError(
    message,
    'Restore the file from a backup of the data directory. If you remove it, every caller gets a new webhook secret.',
    { cause },
  );
}

function hasCode(error: unknown, code: string): boolean {
  return error instanceof Error && 'code' in error && error.code === code;
}
