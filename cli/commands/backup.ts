import { chmodSync, existsSync } from 'node:fs';
import { copyFile, mkdir, readdir } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { dataPaths } from '../../adapters/embedded/data-directory.ts';
import { openDatabase } from '../../adapters/embedded/database.ts';
import { CommandError } from '../command-error.ts';
import { credentialsFile } from '../credentials.ts';
import type { Terminal } from '../terminal.ts';

/**
 * `watchpost backup`: copies the data directory, also while the service runs, to a new folder that is a data directory itself. Throws
 * `CommandError` where there is nothing to copy, or something is in the way.
 */
export async function backup(dataDir: string, target: string, { print }: Terminal): Promise<void> {
  const from = dataPaths(dataDir);
  if (!existsSync(from.database))
    throw new CommandError(
      `There is no database in ${from.path}`,
      'Name the folder that the service uses: --data-dir.',
    );
  const to = dataPaths(await newFolder(target));
  copyDatabase(from.database, to.database);
  await copyFile(from.masterSecret, to.masterSecret);
  await copyFile(credentialsFile(from.path), credentialsFile(to.path));
  // Last: pictures that the copied database names are there, unless they have become too old meanwhile.
  await copyPictures(from.media, to.media);
  print(`The copy is in ${to.path}`);
}

async function newFolder(target: string): Promise<string> {
  const path = resolve(target);
  if (existsSync(path))
    throw new CommandError(`${path} is there already`, 'Name a folder that is not there yet.');
  await mkdir(path, { recursive: true, mode: 0o700 });
  return path;
}

/** One state of the database, whatever is written meanwhile: a copy of its files would tear it from its write-ahead log. */
function copyDatabase(from: string, to: string): void {
  const database = openDatabase(from);
  try {
    database.prepare('VACUUM INTO ?').run(to);
    chmodSync(to, 0o600);
  } finally {
    database.close();
  }
}

async function copyPictures(from: string, to: string): Promise<void> {
  for (const entry of await readdir(from, { recursive: true, withFileTypes: true })) {
    if (!entry.isFile()) continue;
    const folder = join(to, entry.parentPath.slice(from.length));
    await mkdir(folder, { recursive: true, mode: 0o700 });
    await copyFile(join(entry.parentPath, entry.name), join(folder, entry.name)).catch(unlessGone);
  }
  await mkdir(to, { recursive: true, mode: 0o700 });
}

/** The service removes pictures that nothing refers to any more, also now. */
function unlessGone(error: unknown): void {
  if (!(error instanceof Error && 'code' in error && error.code === 'ENOENT')) throw error;
}
