import { existsSync } from 'node:fs';
import { lchown, mkdtemp, readdir, rename, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, join, resolve } from 'node:path';
import { createFolder } from '../../adapters/embedded/files/create-folder.ts';
import { dataPaths, lockDirectory } from '../../adapters/embedded/files/data-directory.ts';
import {
  becomeOwner,
  copyPlainFile,
  findOwner,
  isForeign,
} from '../../adapters/embedded/files/plain-files.ts';
import { openDatabase } from '../../adapters/embedded/sqlite/database.ts';
import { markRestored } from '../../adapters/embedded/sqlite/mark-restored.ts';
import { acceptMasterSecret, matchesMasterSecret } from '../../adapters/embedded/callers/master-secret.ts';
import { CommandError } from '../command-error.ts';
import { copyDataDirectory } from './backup.ts';
import type { Terminal } from '../terminal.ts';
import type { Command } from 'commander';
import { z } from 'zod';
import { addSettings } from '../settings.ts';
import { parseSettings } from '../parse-options.ts';

const optionsSchema = z.object({ secretOnly: z.boolean().default(false), table: z.string().optional() });

export function addRestore(program: Command, terminal: Terminal): void {
  addSettings(program.command('restore [folder]'), ['dataDir'])
    .description('replace the data directory by a backup, while the service is stopped')
    .option('--secret-only', 'restore the master secret only')
    .option('--table <name>', 'prepare a table that AWS restored, instead, with your AWS credentials')
    .action(async (folder: string | undefined, raw: unknown) => {
      const { secretOnly, table } = optionsSchema.parse(raw);
      if (table !== undefined && folder === undefined && !secretOnly) {
        // Imported on demand: the AWS clients load slower than the rest of the command line.
        const { restoreTable } = await import('../commands/restore-table.ts');
        return restoreTable(table, { terminal, now: () => new Date() });
      }
      if (folder === undefined || table !== undefined)
        throw new CommandError(
          'One backup has to be named',
          'Use the folder of a backup, or --table for a deployment on AWS.',
        );
      const { dataDir } = parseSettings(raw);
      return secretOnly
        ? restoreSecret(folder, dataDir, terminal)
        : restore(folder, dataDir, new Date(), terminal);
    });
}

export function addAcceptSecret(program: Command, terminal: Terminal): void {
  addSettings(program.command('accept-secret'), ['dataDir'])
    .description('let the next start use the master secret that it finds, or create a new one')
    .action(async (raw: unknown) => {
      await acceptSecret(parseSettings(raw).dataDir, new Date(), terminal);
    });
}

const partialName = 'restore.part';

/**
 * Replaces the content of the data directory by a backup (`watchpost restore`). The earlier content moves to a folder
 * within it, so that it also works on a mounted volume. Throws `CommandError` or `DataDirectoryError` if the backup is
 * unusable or the service runs.
 */
export async function restore(
  folder: string,
  dataDir: string,
  now: Date,
  terminal: Pick<Terminal, 'print'>,
): Promise<void> {
  const [backup, target] = [resolve(folder), resolve(dataDir)];
  requireBackup(backup);
  if (backup === target)
    throw new CommandError(`${backup} is the data directory itself`, 'Use the folder of a backup.');
  await createFolder(target);
  await asOwner(
    target,
    backup,
    (to) => copyDataDirectory(backup, to),
    async (readable) => {
      const partial = join(target, partialName);
      await rm(partial, { recursive: true, force: true });
      await createFolder(partial);
      await copyDataDirectory(readable, partial);
      await requireOwnSecret(partial, backup);
      markCopyRestored(partial);
      const before = await putAside(target, now);
      for (const name of await readdir(partial)) await rename(join(partial, name), join(target, name));
      await rm(partial, { recursive: true });
      terminal.print(`Restored ${target} from ${backup}`);
      if (before !== undefined) terminal.print(`Earlier content: ${before}`);
    },
  );
}

function markCopyRestored(folder: string): void {
  const database = openDatabase(dataPaths(folder).database);
  try {
    markRestored(database);
  } finally {
    database.close();
  }
}

/** Restores the master secret only (`watchpost restore --secret-only`), if the database was used with it. */
export async function restoreSecret(
  folder: string,
  dataDir: string,
  terminal: Pick<Terminal, 'print'>,
): Promise<void> {
  const [from, to] = [dataPaths(folder), dataPaths(dataDir)];
  requireBackup(from.path);
  requireDataDirectory(dataDir);
  const { masterSecret } = from;
  const copySecret = (into: string) => copyPlainFile(masterSecret, join(into, basename(masterSecret)));
  await asOwner(to.path, from.path, copySecret, async (readable) => {
    const secret = join(readable, basename(masterSecret));
    const database = openDatabase(to.database);
    try {
      if (!(await matchesMasterSecret(secret, database)))
        throw new CommandError(
          `The master secret in ${from.path} is not the one of ${to.path}`,
          'Use a backup of this data directory.',
        );
    } finally {
      database.close();
    }
    await rm(to.masterSecret, { force: true });
    await copyPlainFile(secret, to.masterSecret);
    terminal.print(`Restored the master secret of ${to.path}`);
  });
}

/** Lets the next start use the master secret that is there, or create one (`watchpost accept-secret`). */
export async function acceptSecret(
  dataDir: string,
  now: Date,
  terminal: Pick<Terminal, 'print'>,
): Promise<void> {
  const { path, database: file, masterSecret } = dataPaths(dataDir);
  requireDataDirectory(dataDir);
  await becomeOwner(path);
  await locked(path, async () => {
    const database = openDatabase(file);
    try {
      acceptMasterSecret(database);
      if (existsSync(masterSecret) && !(await matchesMasterSecret(masterSecret, database)))
        await rename(masterSecret, `${masterSecret}.damaged-${fileTime(now)}`);
    } finally {
      database.close();
    }
    terminal.print('The next start accepts the master secret that it finds, or creates one.');
    terminal.print('Give every receiver its new webhook secret: GET /webhook-secret.');
  });
}

function requireBackup(path: string): void {
  const { database, masterSecret } = dataPaths(path);
  for (const file of [database, masterSecret])
    if (!existsSync(file))
      throw new CommandError(
        `${path} is not a backup: ${file} is missing`,
        'Use a folder that watchpost backup wrote.',
      );
}

function requireDataDirectory(dataDir: string): void {
  const { path, database } = dataPaths(dataDir);
  if (!existsSync(database))
    throw new CommandError(
      `No database in ${path}`,
      'Use --data-dir with the data directory of the service.',
    );
}

async function requireOwnSecret(copy: string, backup: string): Promise<void> {
  const paths = dataPaths(copy);
  const database = openDatabase(paths.database);
  try {
    if (!(await matchesMasterSecret(paths.masterSecret, database)))
      throw new CommandError(
        `The master secret in ${backup} does not belong to its database`,
        'Use another backup.',
      );
  } finally {
    database.close();
  }
}

/**
 * Moves the content of the data directory to a folder within it. Returns the folder; undefined if there was nothing.
 */
async function putAside(target: string, now: Date): Promise<string | undefined> {
  const names = (await readdir(target)).filter((name) => !staysInPlace(name));
  if (names.length === 0) return undefined;
  const before = join(target, `before-restore-${fileTime(now)}`);
  await createFolder(before);
  for (const name of names) await rename(join(target, name), join(before, name));
  return before;
}

/** The lock is held by this process; backups of a container are below its only volume. */
function staysInPlace(name: string): boolean {
  return (
    name.startsWith('lock') ||
    name === partialName ||
    name.startsWith('before-restore-') ||
    name.startsWith('backup')
  );
}

/**
 * Does work on a locked data directory, as its owner: root must not read or change by a link in it what its user may
 * not. A backup of another user is copied by root to a private folder before.
 */
async function asOwner(
  target: string,
  backup: string,
  copy: (to: string) => Promise<void>,
  work: (readable: string) => Promise<void>,
): Promise<void> {
  const [owner, ofBackup] = await Promise.all([findOwner(target), findOwner(backup)]);
  const isReadable = !(await isForeign(target)) || ofBackup.uid === owner.uid;
  const readable = isReadable ? backup : await mkdtemp(join(tmpdir(), 'watchpost-restore-'));
  try {
    if (!isReadable) {
      await copy(readable);
      const names = await readdir(readable, { recursive: true });
      for (const name of ['', ...names]) await lchown(join(readable, name), owner.uid, owner.gid);
    }
    await becomeOwner(target);
    await locked(target, () => work(readable));
  } finally {
    if (!isReadable) await rm(readable, { recursive: true, force: true });
  }
}

async function locked(path: string, work: () => Promise<void>): Promise<void> {
  const release = await lockDirectory(path);
  try {
    await work();
  } finally {
    release();
  }
}

function fileTime(now: Date): string {
  return now.toISOString().replaceAll(/[:.]/g, '-');
}
