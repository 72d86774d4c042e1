import { chmodSync, existsSync } from 'node:fs';
import { mkdir, readdir, rename, rm } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { createFolder } from '../../adapters/embedded/files/create-folder.ts';
import { dataPaths } from '../../adapters/embedded/files/data-directory.ts';
import {
  becomeOwner,
  copyPlainFile,
  findOwner,
  listPlainFiles,
  requirePlainFile,
} from '../../adapters/embedded/files/plain-files.ts';
import { openForReading } from '../../adapters/embedded/sqlite/database.ts';
import { CommandError } from '../command-error.ts';
import { credentialsFile } from '../credentials.ts';
import type { Terminal } from '../terminal.ts';
import { setTimeout as sleep } from 'node:timers/promises';
import { InvalidArgumentError, Option, type Command } from 'commander';
import { z } from 'zod';
import { addSettings } from '../settings.ts';
import { between, parseSettings } from '../parse-options.ts';

const backupOptions = z.object({ every: z.number().optional(), keep: z.number().optional() });

export function addBackup(program: Command, terminal: Terminal): void {
  addSettings(program.command('backup <folder>'), ['dataDir'])
    .description('copy the data directory to a new folder, also while the service runs')
    .addOption(
      new Option(
        '--every <interval>',
        'repeat at this interval, such as 12h or 1d, in dated folders below <folder>',
      ).argParser(parseInterval),
    )
    .addOption(
      new Option(
        '--keep <count>',
        'number of dated backups below <folder>; older ones are removed (with --every, default 7)',
      ).argParser(between(1, 10_000)),
    )
    .action(async (folder: string, raw: unknown) => {
      const { every, keep } = backupOptions.parse(raw);
      const options = {
        dataDir: parseSettings(raw).dataDir,
        folder,
        ...(every !== undefined && { everyMs: every }),
        ...(keep !== undefined && { keep }),
      };
      await backup(options, { terminal, now: () => new Date(), sleep: async (ms) => sleep(ms) });
    });
}

/** Parses an interval of minutes, hours or days to milliseconds. */
function parseInterval(text: string): number {
  const [, count, unit] = /^(\d{1,4})(m|h|d)$/.exec(text) ?? [];
  const seconds = unit === 'm' ? 60 : unit === 'h' ? 3600 : 86_400;
  // A timer of Node holds 24 days.
  if (count !== undefined && Number(count) > 0 && Number(count) * seconds <= 20 * 86_400)
    return Number(count) * seconds * 1000;
  throw new InvalidArgumentError('Use minutes, hours or days, such as 30m, 12h or 1d, at most 20d.');
}

/** Options of `watchpost backup`: `everyMs` repeats it, `keep` is the number of dated backups below the folder. */
export type BackupOptions = { dataDir: string; folder: string; everyMs?: number; keep?: number };

export type BackupDeps = {
  terminal: Pick<Terminal, 'print' | 'note'>;
  now: () => Date;
  /** Waits, or rejects when the process is stopped. */
  sleep: (milliseconds: number) => Promise<void>;
};

const defaultKeep = 7;

/**
 * Copies the data directory to a folder (`watchpost backup`), also while the service runs. The copy is a complete data
 * directory. With `everyMs` or `keep`, backups are folders with their time as name below it, and the oldest are
 * removed. A repeated backup that fails is reported and tried again at its next time. Throws `CommandError` if there is
 * no database or the target exists, `DataDirectoryError` for a link.
 */
export async function backup(options: BackupOptions, deps: BackupDeps): Promise<void> {
  const { everyMs, keep, dataDir, folder } = options;
  requireDatabase(dataDir);
  const [data, target] = await Promise.all([findOwner(resolve(dataDir)), findOwner(resolve(folder))]);
  if (data.uid === target.uid) await becomeOwner(resolve(dataDir));
  if (everyMs === undefined && keep === undefined) return writeBackup(dataDir, resolve(folder), deps);
  const dated = () => writeDated(dataDir, resolve(folder), keep ?? defaultKeep, deps);
  await dated();
  if (everyMs === undefined) return;
  for (;;) {
    await deps.sleep(everyMs);
    await dated().catch((error: unknown) =>
      deps.terminal.note(`Backup failed, next attempt at its next time: ${String(error)}`),
    );
  }
}

function requireDatabase(dataDir: string): void {
  const { path, database } = dataPaths(dataDir);
  if (!existsSync(database))
    throw new CommandError(
      `No database in ${path}`,
      'Use --data-dir with the data directory of the service.',
    );
}

/** Writes to a partial folder first, so that an interrupted backup is never mistaken for a complete one. */
async function writeBackup(dataDir: string, target: string, { terminal }: BackupDeps): Promise<void> {
  if (existsSync(target))
    throw new CommandError(
      `${target} already exists`,
      'Use a folder that does not exist, or --keep COUNT for dated backups below it.',
    );
  const partial = `${target}.part`;
  await rm(partial, { recursive: true, force: true });
  try {
    await createFolder(partial);
    await copyDataDirectory(dataDir, partial);
    await rename(partial, target);
  } catch (error) {
    await rm(partial, { recursive: true, force: true });
    throw error;
  }
  terminal.print(`Backup written to ${target}`);
}

async function writeDated(dataDir: string, folder: string, keep: number, deps: BackupDeps): Promise<void> {
  const name = deps.now().toISOString().replace(/\.\d+/, '').replaceAll(':', '-');
  await writeBackup(dataDir, join(folder, name), deps);
  const entries = (await readdir(folder)).filter((entry) => datedName.test(entry)).toSorted();
  const whole = entries.filter((entry) => !entry.endsWith('.part'));
  const interrupted = entries.filter((entry) => entry.endsWith('.part'));
  for (const old of [...whole.slice(0, -keep), ...interrupted])
    await rm(join(folder, old), { recursive: true });
}

/** Names of dated backups. Nothing else in the folder is removed. */
const datedName = /^\d{4}-\d\d-\d\dT\d\d-\d\d-\d\dZ(?:\.part)?$/;

/**
 * Copies a data directory, also that of a running service, to an empty folder. Throws `DataDirectoryError` if it is
 * damaged.
 */
export async function copyDataDirectory(source: string, target: string): Promise<void> {
  const [from, to] = [dataPaths(source), dataPaths(target)];
  const secrets = [from.masterSecret, credentialsFile(from.path)];
  const databases = ['', '-wal', '-shm', '-journal'].map((ending) => from.database + ending);
  for (const path of [...databases, ...secrets]) await requirePlainFile(path);
  copyDatabase(from.database, to.database);
  await copyPlainFile(from.masterSecret, to.masterSecret);
  await copyPlainFile(credentialsFile(from.path), credentialsFile(to.path)).catch(ignoreMissing);
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
  for (const path of await listPlainFiles(from)) {
    await mkdir(dirname(join(to, path)), { recursive: true, mode: 0o700 });
    await copyPlainFile(join(from, path), join(to, path)).catch(ignoreMissing);
  }
  await mkdir(to, { recursive: true, mode: 0o700 });
}

/** Ignores a missing file: the service deletes unreferenced media during the backup. */
function ignoreMissing(error: unknown): void {
  if (!(error instanceof Error && 'code' in error && error.code === 'ENOENT')) throw error;
}
