import { randomUUID } from 'node:crypto';
import {
  link,
  mkdir,
  open,
  readdir,
  readFile,
  rename,
  rm,
  unlink,
  type FileHandle,
  lstat,
  opendir,
  rmdir,
} from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { readRange, type ByteRange, type MediaStore } from '../../../core/ports/media-store.ts';
import { createByteCache } from '../../byte-cache.ts';
import {
  clipFolder,
  evidenceFolder,
  keptFolders,
  mediaFolders,
  momentFolder,
} from '../../../core/policies/watch/evidence.ts';
import { trimMedia, type MediaQuota, type Trimmed } from './media-quota.ts';
import { storageError } from '../sqlite/transaction.ts';

export type EmbeddedMediaStore = MediaStore & {
  /**
   * Removes captures stored before `olderThan`, and evidence at the end of its retention; returns how many files.
   * Throws `TransientError`.
   */
  sweep(olderThan: Date): Promise<number>;
  /** Removes the oldest media that are not needed until the rest fits. Throws `TransientError`. */
  trim(quota: MediaQuota): Promise<Trimmed>;
};

/** Media kept in memory, in bytes: those of checks under way, which read what their capture has stored a moment ago. */
const [maxRecent, maxRecentBytes] = [1000, 8 * 1024 * 1024];

/**
 * Creates a media store of files under `directory`. Jobs that share a capture store the same array of bytes: it is
 * written once, the other keys are further links to the file, and each is removed on its own. Stored arrays must not be
 * changed. Throws `TransientError` for disk faults, `RangeError` for an invalid key.
 */
export function createMediaStore(directory: string, files: MediaFiles = mediaFiles): EmbeddedMediaStore {
  /** Path of the newest file with these bytes, once it is complete. */
  const written = new WeakMap<Uint8Array, Promise<string>>();
  const recent = createByteCache<Uint8Array>({
    name: 'media of checks',
    max: maxRecent,
    maxBytes: maxRecentBytes,
  });
  return {
    put: async (key, bytes) => {
      await store(toPath(directory, key), bytes).catch(fail);
      recent.set(key, bytes);
    },
    get: async (key, range) => {
      const path = toPath(directory, key);
      return readRange(recent.get(key), range) ?? (await read(path, range));
    },
    remove: async (keys) => {
      for (const key of keys) recent.delete(key);
      await Promise.all(keys.map((key) => remove(toPath(directory, key)))).catch(fail);
    },
    removeOfSource: async (sourceId) => {
      recent.clear();
      const folders = mediaFolders(sourceId).map((folder) => toFolder(directory, folder));
      const removed = await Promise.all(folders.map(removeFolder)).catch(fail);
      return removed.reduce((sum, count) => sum + count, 0);
    },
    sweep: (olderThan) => {
      recent.clear();
      return sweepAll(directory, olderThan).catch(fail);
    },
    trim: (quota) => {
      recent.clear();
      return trimMedia(directory, quota).catch(fail);
    },
  };

  async function store(path: string, bytes: Uint8Array): Promise<void> {
    const existing = written.get(bytes);
    if (existing !== undefined && (await addLink(existing, path, files))) return;
    const writing = files.write(path, bytes).then(() => path);
    written.set(bytes, writing);
    await writing;
  }
}

/** Evidence and moments are kept for their days in addition to those of a capture. */
async function sweepAll(directory: string, olderThan: Date): Promise<number> {
  let removed = await sweepMedia(directory, olderThan, [evidenceFolder, clipFolder, momentFolder]);
  for (const { folder: name, days } of keptFolders) {
    const folder = join(directory, name, String(days));
    await mkdir(folder, { recursive: true, mode: 0o700 });
    removed += await sweepMedia(folder, new Date(olderThan.getTime() - days * 86_400_000));
  }
  return removed;
}

/** Keys such as `captures/<uuid>/<tick>-<id>.jpg`: no part of a key can leave the directory. */
const keyPattern = /^(?:[A-Za-z0-9][\w-]{0,63}\/){1,4}[A-Za-z0-9][\w-]{0,127}\.(?:jpg|mp4)$/;

function toPath(directory: string, key: string): string {
  if (!keyPattern.test(key)) throw new RangeError('Not a key of the media store');
  return join(directory, key);
}

function toFolder(directory: string, folder: string): string {
  if (!keyPattern.test(`${folder}a.jpg`)) throw new RangeError('Not a folder of the media store');
  return join(directory, folder);
}

async function removeFolder(path: string): Promise<number> {
  // A tick under way may store a file meanwhile, in a new folder of the name.
  const aside = join(dirname(path), `${basename(path)}.${randomUUID()}`);
  try {
    await rename(path, aside);
  } catch (error) {
    if (isMissing(error)) return 0;
    throw error;
  }
  const files = await readdir(aside);
  await rm(aside, { recursive: true, force: true });
  return files.length;
}

/** Operations on files that tests count. */
export type MediaFiles = { write: typeof write; link: typeof link };

export const mediaFiles: MediaFiles = { write, link };

/**
 * Adds a name to a file. Returns false if the file was not written or is removed, the folder is missing, or the file
 * system has no links.
 */
async function addLink(existing: Promise<string>, path: string, files: MediaFiles): Promise<boolean> {
  try {
    await files.link(await existing, path);
    return true;
  } catch {
    return false;
  }
}

async function remove(path: string): Promise<void> {
  await unlink(path).catch((error: unknown) => {
    if (!isMissing(error)) throw error;
  });
}

/** Writes a file atomically. Flushes it (about a millisecond), since the next commit of an event refers to it. */
async function write(path: string, bytes: Uint8Array): Promise<void> {
  const partial = `${path}.${randomUUID()}.part`;
  try {
    await using file = await create(partial);
    await file.writeFile(bytes);
    await file.datasync();
    await rename(partial, path);
  } catch (error) {
    await rm(partial, { force: true });
    throw error;
  }
}

/** Creates a file, and its folder if it is missing: for the first file of a source. */
async function create(path: string): Promise<FileHandle> {
  try {
    return await open(path, 'wx', 0o600);
  } catch (error) {
    if (!isMissing(error)) throw error;
    await mkdir(dirname(path), { recursive: true, mode: 0o700 });
    return open(path, 'wx', 0o600);
  }
}

async function read(path: string, range?: ByteRange): Promise<Uint8Array | undefined> {
  try {
    if (!range) return await readFile(path);
    await using file = await open(path, 'r');
    const part = Buffer.alloc(range.last - range.first + 1);
    const { bytesRead } = await file.read(part, 0, part.length, range.first);
    return part.subarray(0, bytesRead);
  } catch (error) {
    if (isMissing(error)) return undefined;
    return fail(error);
  }
}

function isMissing(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === 'ENOENT';
}

function fail(error: unknown): never {
  throw storageError(error);
}

/**
 * Removes files under `directory` last written before `olderThan`, incomplete ones too, and folders that become empty.
 * Returns the number of files. Leaves the folders `except`.
 */
async function sweepMedia(
  directory: string,
  olderThan: Date,
  except: readonly string[] = [],
): Promise<number> {
  let removed = 0;
  for await (const entry of await opendir(directory)) {
    if (except.includes(entry.name)) continue;
    const path = join(directory, entry.name);
    // Checks the age before it removes files, which changes the folder's time. A young folder belongs to a frame that
    // is being stored.
    const isOld = await isOlder(path, olderThan);
    if (entry.isDirectory()) {
      removed += await sweepMedia(path, olderThan);
      if (isOld) await removeIfEmpty(path);
    } else if (isOld) {
      await rm(path, { force: true });
      removed += 1;
    }
  }
  return removed;
}

/** Returns false if the file is missing: a complete file was renamed since, and is young. */
async function isOlder(path: string, olderThan: Date): Promise<boolean> {
  try {
    return (await lstat(path)).mtimeMs < olderThan.getTime();
  } catch (error) {
    if (isMissing(error)) return false;
    throw error;
  }
}

async function removeIfEmpty(path: string): Promise<void> {
  await rmdir(path).catch((error: unknown) => {
    if (!isNotEmpty(error)) throw error;
  });
}

function isNotEmpty(error: unknown): boolean {
  return error instanceof Error && 'code' in error && (error.code === 'ENOTEMPTY' || error.code === 'EEXIST');
}
