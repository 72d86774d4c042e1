import { createHash, randomBytes, randomUUID } from 'node:crypto';
import { link, open, readFile, rm } from 'node:fs/promises';
import type { DatabaseSync } from 'node:sqlite';
import { z } from 'zod';
import { DataDirectoryError } from '../files/create-folder.ts';
import { withStorageErrors } from '../sqlite/transaction.ts';

/**
 * Returns the 32 bytes from which webhook secrets are derived. Creates the file (mode 0600) in a new data directory.
 * Throws `DataDirectoryError` if the secret is lost or is not the one that the database was used with: another one
 * would silently change the webhook secret of every caller.
 */
export async function openMasterSecret(path: string, database: DatabaseSync): Promise<Buffer> {
  const expected = readFingerprint(database);
  if (mayBeNew(database) && (await readStored(path)) === undefined) await make(path);
  const secret = await verifyMasterSecret(path, database);
  const fingerprint = computeFingerprint(secret);
  if (expected !== fingerprint) writeFingerprint(database, fingerprint);
  return secret;
}

/**
 * Reads the secret and changes nothing. Throws `DataDirectoryError` if it is lost or is not the one that the database
 * was used with.
 */
export async function verifyMasterSecret(path: string, database: DatabaseSync): Promise<Buffer> {
  const expected = readFingerprint(database);
  const stored = await readStored(path);
  if (stored === undefined) throw unusable('The master secret is lost: its file is missing');
  const secret = decode(stored);
  const fingerprint = computeFingerprint(secret);
  if (expected !== undefined && expected !== accepted && expected !== fingerprint)
    throw unusable('The master secret is not the one that this data directory was used with');
  return secret;
}

function mayBeNew(database: DatabaseSync): boolean {
  const expected = readFingerprint(database);
  return expected === accepted || (expected === undefined && !hasCallers(database));
}

/** Returns true if the file holds a secret, and the database was used with it or knows none. */
export async function matchesMasterSecret(path: string, database: DatabaseSync): Promise<boolean> {
  const secret = Buffer.from((await readStored(path)) ?? '', 'base64');
  const expected = readFingerprint(database) || computeFingerprint(secret);
  return secret.length === secretBytes && expected === computeFingerprint(secret);
}

/** Accepts whatever master secret the next start finds, or a new one if it finds none. */
export function acceptMasterSecret(database: DatabaseSync): void {
  writeFingerprint(database, accepted);
}

const secretBytes = 32;
/** Stored in place of a fingerprint. */
const accepted = '';

function computeFingerprint(secret: Buffer): string {
  return createHash('sha256').update('watchpost master secret').update(secret).digest('hex');
}

const fact = 'master_secret_fingerprint';
const rowSchema = z.object({ value: z.string() }).optional();

/** Returns undefined in a new database. */
function readFingerprint(database: DatabaseSync): string | undefined {
  const row = withStorageErrors(() => database.prepare('SELECT value FROM facts WHERE name = ?').get(fact));
  return rowSchema.parse(row)?.value;
}

function writeFingerprint(database: DatabaseSync, value: string): void {
  withStorageErrors(() =>
    database.prepare('INSERT OR REPLACE INTO facts (name, value) VALUES (?, ?)').run(fact, value),
  );
}

/** A service creates its first caller after its master secret. */
function hasCallers(database: DatabaseSync): boolean {
  return withStorageErrors(() => database.prepare('SELECT 1 FROM callers LIMIT 1').get()) !== undefined;
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
 * Writes a temporary file and links it under the final name when it is complete. If two processes create one
 * concurrently, the first wins.
 */
async function make(path: string): Promise<void> {
  const partial = `${path}.${randomUUID()}.part`;
  try {
    await using file = await open(partial, 'wx', 0o600);
    await file.writeFile(`${randomBytes(secretBytes).toString('base64')}\n`);
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
  if (secret.length !== secretBytes)
    throw unusable('The master secret is damaged: its file does not hold 32 bytes');
  return secret;
}

function unusable(message: string, cause?: unknown): DataDirectoryError {
  return new DataDirectoryError(
    message,
    'Restore it from a backup: npm run watchpost -- restore FOLDER --secret-only --data-dir DIR. Without a backup, npm run watchpost -- accept-secret --data-dir DIR lets the next start create a new one or use the one that is there; every receiver then needs its new webhook secret.',
    { cause },
  );
}

function hasCode(error: unknown, code: string): boolean {
  return error instanceof Error && 'code' in error && error.code === code;
}
