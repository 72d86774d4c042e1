import { execFile } from 'node:child_process';
import {
  chmodSync,
  chownSync,
  existsSync,
  lchownSync,
  linkSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { basename, join } from 'node:path';
import { promisify } from 'node:util';
import { beforeEach, describe, expect, test } from 'vitest';
import { createCallerStore } from '../../../adapters/embedded/callers/caller-store.ts';
import { openDatabase } from '../../../adapters/embedded/sqlite/database.ts';
import { dataPaths, lockDirectory } from '../../../adapters/embedded/files/data-directory.ts';
import { openMasterSecret } from '../../../adapters/embedded/callers/master-secret.ts';
import { backup, addBackup } from '../../../cli/commands/backup.ts';
import { addAcceptSecret, addRestore, restore } from '../../../cli/commands/restore.ts';
import { newCaller } from '../../../core/records/caller.ts';
import { start } from '../../contract/records.ts';
import { runCommand } from '../../support/run-command.ts';
import { folderOfTest } from '../../support/temporary-folder.ts';

let folder: string;
let dataDir: string;
let copy: string;
const quiet = { print: () => undefined, note: () => undefined };

beforeEach(async () => {
  folder = folderOfTest();
  [dataDir, copy] = [join(folder, 'data'), join(folder, 'copy')];
  await createDataDirectory(dataDir);
  await backup(
    { dataDir, folder: copy },
    { terminal: quiet, now: () => start, sleep: async () => undefined },
  );
});

async function createDataDirectory(path: string): Promise<void> {
  mkdirSync(path);
  const database = openDatabase(dataPaths(path).database);
  await openMasterSecret(dataPaths(path).masterSecret, database);
  const callers = createCallerStore(database);
  // One flush instead of 2000.
  database.exec('BEGIN');
  for (let caller = 0; caller < 2000; caller += 1)
    await callers.add(newCaller(`caller-${caller}`, null, start));
  database.exec('COMMIT');
  database.close();
}

function callersIn(path: string): unknown {
  const database = openDatabase(dataPaths(path).database);
  const { count } = database.prepare('SELECT count(*) AS count FROM callers').get()!;
  database.close();
  return count;
}

/** Overwrites a page in the middle of the database. */
function damage(path: string): void {
  const file = dataPaths(path).database;
  const bytes = readFileSync(file);
  bytes.fill(0x55, Math.floor(bytes.length / 2), Math.floor(bytes.length / 2) + 8192);
  writeFileSync(file, bytes);
}

const addAll: typeof addRestore = (program, terminal) => {
  addBackup(program, terminal);
  addRestore(program, terminal);
  addAcceptSecret(program, terminal);
};

/** Runs a command; a start in a process of its own. */
async function watchpost(...args: string[]) {
  const command = ['cli/watchpost.ts', ...args, '--data-dir', dataDir];
  const failed = (error: unknown) => error as { code: number; stdout: string; stderr: string };
  const run =
    args[0] === 'start'
      ? promisify(execFile)(process.execPath, command, { timeout: 20_000 })
      : runCommand(addAll, ...args, '--data-dir', dataDir);
  return run.then((done) => ({ code: 0, ...done }), failed);
}

describe('links in a backup', () => {
  const secret = () => join(folder, 'secret');
  beforeEach(() => writeFileSync(secret(), 'of another user'));

  test.each([
    ['the master secret', () => dataPaths(copy).masterSecret],
    ['the credentials', () => join(copy, 'watchpost.json')],
    ['the database', () => dataPaths(copy).database],
    ['its log', () => `${dataPaths(copy).database}-wal`],
    ['a picture', () => join(dataPaths(copy).media, 'captures', 'a.jpg')],
    ['a folder of pictures', () => join(dataPaths(copy).media, 'evidence')],
    ['all media', () => dataPaths(copy).media],
  ])('%s that is a link is not read', async (_, find) => {
    mkdirSync(join(dataPaths(copy).media, 'captures'), { recursive: true });
    rmSync(find(), { recursive: true, force: true });
    symlinkSync(secret(), find());
    await expect(restore(copy, join(folder, 'new'), start, quiet)).rejects.toThrow('is a link');
    rmSync(find());
    if (find() === dataPaths(copy).masterSecret) return;
    linkSync(secret(), find());
    // A picture may have several names: jobs share it.
    const isMedia = find().includes('media/');
    if (!isMedia) await expect(restore(copy, join(folder, 'new'), start, quiet)).rejects.toThrow('is a link');
  });

  test('a further name of a file of another user is not read', async () => {
    const picture = join(dataPaths(copy).media, 'a.jpg');
    mkdirSync(dataPaths(copy).media, { recursive: true });
    linkSync(secret(), picture);
    if (process.getuid?.() !== 0) return;
    chownSync(dataPaths(copy).media, 12_345, 12_345);
    await expect(restore(copy, join(folder, 'new'), start, quiet)).rejects.toThrow('is a link');
  });

  test.skipIf(process.getuid?.() !== 0)('a link of another user on the way leads root nowhere', async () => {
    const link = join(folder, 'link');
    symlinkSync(join(dataDir, '..'), link);
    lchownSync(link, 12_345, 12_345);
    const target = join(link, basename(dataDir));
    await expect(restore(copy, target, start, quiet)).rejects.toThrow(`${link} is a link`);
    await expect(restore(join(link, basename(copy)), join(folder, 'new'), start, quiet)).rejects.toThrow(
      'is a link',
    );
  });

  test.skipIf(process.getuid?.() !== 0)('root restores as the owner of the data directory', async () => {
    const open = mkdtempSync(join('/tmp', 'watchpost-test-'));
    try {
      chmodSync(open, 0o755);
      const data = join(open, 'data');
      renameSync(dataDir, data);
      for (const name of ['', ...readdirSync(data, { recursive: true, encoding: 'utf8' })])
        chownSync(join(data, name), 12_345, 12_345);
      mkdirSync(join(data, 'backup-1'));
      symlinkSync(secret(), join(data, 'backup-1', 'link'));
      const { code, stderr } = await watchpost('restore', copy, '--data-dir', data);
      expect([code, stderr]).toEqual([0, '']);
      expect(statSync(secret()).uid).toBe(0);
      for (const file of [data, dataPaths(data).database, dataPaths(data).masterSecret])
        expect(statSync(file).uid).toBe(12_345);
    } finally {
      rmSync(open, { recursive: true });
    }
  });
});

describe('a start with a damaged data directory', () => {
  test('a damaged database is reported in sentences with the command that restores it', async () => {
    damage(dataDir);
    const { code, stderr } = await watchpost('start', '--port', '0');
    expect(code).toBe(1);
    expect(stderr).toMatch(/^Error: The database in the data directory is damaged/m);
    expect(stderr).toContain('restore FOLDER --data-dir DIR');
    expect(stderr).not.toMatch(/^\s+at /m);

    expect((await watchpost('restore', copy)).stdout).toContain(`Restored ${dataDir}`);
    expect(callersIn(dataDir)).toBe(2000);
  });

  test('a lost master secret is reported, and restored from a backup without the rest', async () => {
    const { masterSecret } = dataPaths(dataDir);
    const before = readFileSync(masterSecret);
    rmSync(masterSecret);
    const { code, stderr } = await watchpost('start', '--port', '0');
    expect(code).toBe(1);
    expect(stderr).toMatch(/^Error: The master secret is lost.*\n.*restore FOLDER --secret-only/m);
    expect(existsSync(masterSecret)).toBe(false);

    expect((await watchpost('restore', copy, '--secret-only')).code).toBe(0);
    expect(readFileSync(masterSecret)).toEqual(before);
  });

  test('a damaged master secret can be given up, which puts its file aside', async () => {
    writeFileSync(dataPaths(dataDir).masterSecret, 'not a secret');
    expect((await watchpost('accept-secret')).code).toBe(0);
    expect(readdirSync(dataDir).some((name) => name.startsWith('master-secret.damaged-'))).toBe(true);
    const database = openDatabase(dataPaths(dataDir).database);
    expect(await openMasterSecret(dataPaths(dataDir).masterSecret, database)).toHaveLength(32);
    database.close();
  });
});

describe('watchpost restore', () => {
  test('a restore replaces the content and keeps the earlier one beside it', async () => {
    writeFileSync(join(dataDir, 'media-of-today'), 'x');
    const lines: string[] = [];
    await restore(copy, dataDir, start, { print: (line) => void lines.push(line) });

    const before = readdirSync(dataDir).find((name) => name.startsWith('before-restore-'))!;
    expect(readdirSync(join(dataDir, before))).toContain('media-of-today');
    expect(readdirSync(dataDir)).not.toContain('media-of-today');
    expect(callersIn(dataDir)).toBe(2000);
    expect(lines.join('\n')).toContain(before);
  });

  test('a restore is rejected while a service uses the data directory', async () => {
    const release = await lockDirectory(dataDir);
    await expect(restore(copy, dataDir, start, quiet)).rejects.toThrow('in use by another Watchpost');
    release();
  });

  test('a damaged backup is rejected and leaves the data directory unchanged', async () => {
    damage(copy);
    await expect(restore(copy, dataDir, start, quiet)).rejects.toThrow('damaged');
    expect(callersIn(dataDir)).toBe(2000);
  });

  test('a folder that is no backup, and a backup with the secret of another, are rejected', async () => {
    await expect(restore(folder, dataDir, start, quiet)).rejects.toThrow('is not a backup');
    writeFileSync(dataPaths(copy).masterSecret, Buffer.alloc(32, 7).toString('base64'));
    await expect(restore(copy, dataDir, start, quiet)).rejects.toThrow('does not belong to its database');
    expect(callersIn(dataDir)).toBe(2000);
  });
});

describe('repeated backups', () => {
  test('backups at an interval are dated, the oldest are removed, and other folders stay', async () => {
    const target = join(folder, 'backups');
    mkdirSync(join(target, 'holiday'), { recursive: true });
    mkdirSync(join(target, '2026-01-01T00-00-00Z.part'));
    let now = start;
    let left = 4;
    const sleep = async (ms: number) => {
      now = new Date(now.getTime() + ms);
      left -= 1;
      if (left === 0) throw new Error('stopped');
    };
    const options = { dataDir, folder: target, everyMs: 86_400_000, keep: 2 };
    await expect(backup(options, { terminal: quiet, now: () => now, sleep })).rejects.toThrow('stopped');

    expect(readdirSync(target).toSorted()).toEqual([
      '2026-03-03T12-00-00Z',
      '2026-03-04T12-00-00Z',
      'holiday',
    ]);
    expect(callersIn(join(target, '2026-03-04T12-00-00Z'))).toBe(2000);
  });

  test('a backup that fails is reported, leaves nothing behind, and is tried again', async () => {
    const target = join(folder, 'backups');
    const notes: string[] = [];
    let turn = 0;
    const sleep = async () => {
      turn += 1;
      if (turn === 1) damage(dataDir);
      if (turn === 3) throw new Error('stopped');
    };
    const now = () => new Date(start.getTime() + turn * 1000);
    const terminal = { print: () => undefined, note: (line: string) => void notes.push(line) };
    const options = { dataDir, folder: target, everyMs: 60_000 };
    await expect(backup(options, { terminal, now, sleep })).rejects.toThrow('stopped');

    expect(readdirSync(target)).toEqual(['2026-03-01T12-00-00Z']);
    expect(notes).toHaveLength(2);
    expect(notes[0]).toContain('damaged');
  });

  test.each(['0d', '25d', '1w', 'daily', ''])('the interval %j is rejected', async (every) => {
    const { code, stderr } = await watchpost('backup', join(folder, 'x'), '--every', every);
    expect(code).toBe(2);
    expect(stderr).toContain('such as 30m, 12h or 1d');
  });
});
