import { chmodSync } from 'node:fs';
import { copyFile, mkdir, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { dataPaths } from '../../adapters/embedded/files/data-directory.ts';
import { openForReading } from '../../adapters/embedded/sqlite/database.ts';
import { credentialsFile } from '../credentials.ts';

/** Copies a data directory, also that of a running service, to an empty folder. Throws `DataDirectoryError` if it is damaged. */
export async function copyDataDirectory(source: string, target: string): Promise<void> {
  const [from, to] = [dataPaths(source), dataPaths(target)];
  copyDatabase(from.database, to.database);
  await copyFile(from.masterSecret, to.masterSecret);
  await copyFile(credentialsFile(from.path), credentialsFile(to.path)).catch(ignoreMissing);
  // Last, so that the media of the copied database exist, unless they expire in between.
  await copyMedia(from.media, to.media);
}

/** Copies a consistent snapshot of the database. Copies of its files could miss parts of the write-ahead log. */
function copyDatabase(from: string, to: string): void {
  const database = openForReading(from);
  try {
    database.prepare('VACUUM INTO ?').run(to);
    chmodSync(to, 0o600);
  } finally {
    database.close();
  }
}

async function copyMedia(from: string, to: string): Promise<void> {
  for (const entry of await readdir(from, { recursive: true, withFileTypes: true }).catch(() => [])) {
    if (!entry.isFile()) continue;
    const folder = join(to, entry.parentPath.slice(from.length));
    await mkdir(folder, { recursive: true, mode: 0o700 });
    await copyFile(join(entry.parentPath, entry.name), join(folder, entry.name)).catch(ignoreMissing);
  }
  await mkdir(to, { recursive: true, mode: 0o700 });
}

/** Ignores a missing file: the service deletes unreferenced media during the backup. */
function ignoreMissing(error: unknown): void {
  if (!(error instanceof Error && 'code' in error && error.code === 'ENOENT')) throw error;
}
