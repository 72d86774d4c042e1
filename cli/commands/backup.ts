import { chmodSync, existsSync } from 'node:fs';
import { copyFile, mkdir, readdir } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { dataPaths } from '../../adapters/embedded/data-directory.ts';
import { openDatabase } from '../../adapters/embedded/database.ts';
import { CommandError } from '../command-error.ts';
import { credentialsFile } from '../credentials.ts';
import type { Terminal } from '../terminal.ts';

/**
 * Copies the data directory to a new folder (`watchpost backup`), also while the service runs. The copy is a complete data
 * directory. Throws `CommandError` if there is no database or the target exists.
 */
export async function backup(dataDir: string, target: string, { print }: Terminal): Promise<void> {
  const from = dataPaths(dataDir);
  if (!existsSync(from.database))
    throw new CommandError(
      `No database in ${from.path}`,
      'Use --data-dir with the data directory of the service.',
    );
  const to = dataPaths(await newFolder(target));
  copyDatabase(from.database, to.database);
  await copyFile(from.masterSecret, to.masterSecret);
  await copyFile(credentialsFile(from.path), credentialsFile(to.path));
  // Last, so that the media of the copied database exist, unless they expire in between.
  await copyMedia(from.media, to.media);
  print(`Backup written to ${to.path}`);
}

async function newFolder(target: string): Promise<string> {
  const path = resolve(target);
  if (existsSync(path)) throw new CommandError(`${path} already exists`, 'Use a folder that does not exist.');
  await mkdir(path, { recursive: true, mode: 0o700 });
  return path;
}

/** Copies a consistent snapshot of the database. Copies of its files could miss parts of the write-ahead log. */
function copyDatabase(from: string, to: string): void {
  const database = openDatabase(from);
  try {
    database.prepare('VACUUM INTO ?').run(to);
    chmodSync(to, 0o600);
  } finally {
    database.close();
  }
}

async function copyMedia(from: string, to: string): Promise<void> {
  for (const entry of await readdir(from, { recursive: true, withFileTypes: true })) {
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
