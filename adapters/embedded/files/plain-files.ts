import { constants } from 'node:fs';
import { lstat, open, readdir, type FileHandle } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { DataDirectoryError } from './create-folder.ts';

/** Windows has only the last one, and reads a missing flag as 0. */
const { O_NOFOLLOW, O_NONBLOCK, O_RDONLY } = constants;

/**
 * Copies a file to a path that does not exist, readable by this user alone. The user of the service can plant a link in
 * its folders, and root must not read what it leads to. Throws `DataDirectoryError` if it is a link or a device.
 */
export async function copyPlainFile(from: string, to: string): Promise<void> {
  const source = await open(from, O_RDONLY | O_NOFOLLOW | O_NONBLOCK).catch((error: unknown) => {
    throw hasCode(error, 'ELOOP') ? linkError(from, error) : error;
  });
  try {
    if (!(await source.stat()).isFile()) throw linkError(from);
    await writeNew(to, source);
  } finally {
    await source.close();
  }
}

async function writeNew(to: string, source: FileHandle): Promise<void> {
  const target = await open(to, 'wx', 0o600);
  try {
    await target.writeFile(await source.readFile());
  } finally {
    await target.close();
  }
}

/**
 * Returns the plain files below a folder, as paths in it; none if it is missing. Throws `DataDirectoryError` for any
 * link: symbolic, or a further name of a file that also is elsewhere and belongs to another user than the folder.
 */
export async function listPlainFiles(folder: string): Promise<string[]> {
  const top = await lstat(folder).catch(ignoreMissing);
  if (top === undefined) return [];
  if (!top.isDirectory()) throw linkError(folder);
  const listed: { path: string; file: string; isForeign: boolean; names: number }[] = [];
  for (const entry of await readdir(folder, { recursive: true, withFileTypes: true })) {
    const path = join(entry.parentPath, entry.name);
    const stats = await lstat(path).catch(ignoreMissing);
    if (stats === undefined || stats.isDirectory()) continue;
    if (!stats.isFile()) throw linkError(path);
    const { dev, ino, nlink: names, uid } = stats;
    listed.push({ path, file: `${dev} ${ino}`, isForeign: uid !== top.uid, names });
  }
  const inside = new Map<string, number>();
  for (const { file } of listed) inside.set(file, (inside.get(file) ?? 0) + 1);
  for (const { path, file, isForeign, names } of listed)
    if (isForeign && names > (inside.get(file) ?? 0)) throw linkError(path);
  return listed.map(({ path }) => path.slice(folder.length + 1));
}

/** Throws `DataDirectoryError` for a path that is no plain file of one name. Ignores a missing file. */
export async function requirePlainFile(path: string): Promise<void> {
  const stats = await lstat(path).catch(ignoreMissing);
  if (stats !== undefined && !(stats.isFile() && stats.nlink === 1)) throw linkError(path);
}

/** Returns true if this process is root and the folder, or its nearest parent that exists, belongs to another user. */
export async function isForeign(folder: string): Promise<boolean> {
  return process.getuid?.() === 0 && (await findOwner(folder)).uid !== 0;
}

/**
 * Returns the owner of a folder, or of its nearest parent that exists. Throws `DataDirectoryError` for a link of
 * another user on the way to it.
 */
export async function findOwner(folder: string): Promise<{ uid: number; gid: number }> {
  await refuseForeignLinks(dirname(folder));
  return (await lstat(folder).catch(ignoreMissing)) ?? findOwner(dirname(folder));
}

/**
 * Makes root the owner of a folder for the rest of this process, so that it can read, write and change what that user
 * can, and nothing else. Does nothing for other users, and for a folder of root.
 */
export async function becomeOwner(folder: string): Promise<void> {
  if (!(await isForeign(folder))) return;
  const { uid, gid } = await findOwner(folder);
  process.setgroups?.([]);
  process.setgid?.(gid);
  process.setuid?.(uid);
}

/**
 * Throws `DataDirectoryError` if a link of another user on the way to a folder leads root elsewhere: the owner there is
 * not who made the link.
 */
async function refuseForeignLinks(folder: string): Promise<void> {
  if (process.getuid?.() !== 0 || folder === dirname(folder)) return;
  const stats = await lstat(folder).catch(ignoreMissing);
  if (stats?.isSymbolicLink() && stats.uid !== 0) throw linkError(folder);
  await refuseForeignLinks(dirname(folder));
}

function linkError(path: string, cause?: unknown): DataDirectoryError {
  return new DataDirectoryError(
    `${path} is a link or no plain file`,
    'No link is followed. Find out who made it, and remove it.',
    { cause },
  );
}

function ignoreMissing(error: unknown): undefined {
  if (!hasCode(error, 'ENOENT')) throw error;
}

function hasCode(error: unknown, code: string): boolean {
  return error instanceof Error && 'code' in error && error.code === code;
}
