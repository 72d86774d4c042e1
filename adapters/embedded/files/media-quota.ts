import { lstat, opendir, rm } from 'node:fs/promises';
import { basename, dirname, join, relative, sep } from 'node:path';
import { clipFolder, evidenceFolder, momentFolder } from '../../../core/policies/watch/evidence.ts';
import { findLargest } from '../../fair-cache.ts';

export type MediaQuota = {
  /** Maximum size of all files, in bytes. */
  maxBytes: number;
  /** Space that the disk lacks, in bytes, for which only pictures of moments are removed. Default: 0. */
  missingBytes?: number;
  /** Keys of media that are needed: evidence of open alerts, newest frames. */
  needed: ReadonlySet<string>;
  /**
   * Returns the caller of a source; undefined for one that is not stored any more. Default: each source is a caller of
   * its own.
   */
  findCaller?: (sourceId: string) => Promise<string | undefined>;
  /**
   * Forgets at most `limit` pictures of moments of a caller, those of no verdict that held first, and returns their
   * keys.
   */
  releasePictures?: (caller: string, limit: number) => readonly string[];
  now: Date;
};

/**
 * Result of a trim: files that were removed, of these evidence before the end of its retention, and the size of what is
 * left.
 */
export type Trimmed = { removed: number; evidence: number; bytes: number };

/**
 * Age below which a file may belong to a tick that is under way, in milliseconds: longer than a capture and a model
 * call take.
 */
const minAgeMs = 300_000;

/** Media of a caller. Several names can be links to one file: its space is free when the last one is removed. */
type Holder = {
  size: number;
  names: Map<string, number>;
  removable: StoredFile[];
  /** Pictures of moments by key. They are removed before all else. */
  pictures: Map<string, StoredFile>;
};

const releasedAtOnce = 20;

const alertFolders: ReadonlySet<string | undefined> = new Set([evidenceFolder, clipFolder]);

/**
 * Removes files under `directory` until the rest fits: clips, then the oldest of the caller that holds most, so that
 * nobody loses evidence because another caller's media grow. Keeps files that are needed or young, and those of callers
 * within an equal share, even if they do not fit.
 */
export async function trimMedia(directory: string, quota: MediaQuota): Promise<Trimmed> {
  const holders = await readHolders(directory, quota);
  let bytes = [...holders.values()].reduce((sum, { size }) => sum + size, 0);
  let removed = 0;
  let evidence = 0;
  const most = Math.max(0, Math.min(quota.maxBytes, bytes - (quota.missingBytes ?? 0)));
  const share = most / Math.max(1, holders.size);
  while (bytes > most) {
    const caller = findLargest(holders);
    const holder = caller !== undefined && holders.get(caller);
    if (!holder || holder.size <= share) break;
    const oldest = takeOldest(caller, holder, quota, bytes > quota.maxBytes);
    if (oldest.length === 0) holders.delete(caller);
    for (const { path, file, size } of oldest) {
      await rm(path, { force: true });
      removed += 1;
      if (alertFolders.has(readFolder(directory, path))) evidence += 1;
      const left = (holder.names.get(file) ?? 1) - 1;
      holder.names.set(file, left);
      if (left > 0) continue;
      holder.size -= size;
      bytes -= size;
    }
  }
  return { removed, evidence, bytes };
}

/** Returns what of a caller goes next: some pictures of moments, then the oldest file; none if all is needed. */
function takeOldest(
  caller: string,
  holder: Holder,
  { releasePictures }: MediaQuota,
  isOverQuota: boolean,
): StoredFile[] {
  const { pictures } = holder;
  while (pictures.size > 0) {
    const keys = releasePictures?.(caller, releasedAtOnce) ?? [];
    if (keys.length === 0) break;
    const files = keys.flatMap((key) => pictures.get(key) ?? []);
    for (const key of keys) pictures.delete(key);
    if (files.length > 0) return files;
  }
  const oldest = isOverQuota ? holder.removable.pop() : undefined;
  return oldest ? [oldest] : [];
}

/**
 * Returns what each caller holds: the oldest file last, and clips after all else, since one takes the space of hundreds
 * of pictures.
 */
async function readHolders(
  directory: string,
  { needed, findCaller = async (sourceId) => sourceId, now }: MediaQuota,
): Promise<Map<string, Holder>> {
  const callers = new Map<string, string>();
  const holders = new Map<string, Holder>();
  const isClip = ({ path }: StoredFile) => readFolder(directory, path) === clipFolder;
  const files = (await listFiles(directory)).toSorted(
    (one, other) => Number(isClip(one)) - Number(isClip(other)) || other.writtenMs - one.writtenMs,
  );
  for (const stored of files) {
    const { path, file, size, writtenMs } = stored;
    const sourceId = basename(dirname(path));
    const caller = callers.get(sourceId) ?? (await findCaller(sourceId)) ?? sourceId;
    callers.set(sourceId, caller);
    const holder: Holder = holders.get(caller) ?? {
      size: 0,
      names: new Map(),
      removable: [],
      pictures: new Map(),
    };
    holders.set(caller, holder);
    const names = holder.names.get(file) ?? 0;
    if (names === 0) holder.size += size;
    holder.names.set(file, names + 1);
    const key = relative(directory, path).split(sep).join('/');
    if (key.startsWith(`${momentFolder}/`)) holder.pictures.set(key, stored);
    else if (!needed.has(key) && now.getTime() - writtenMs >= minAgeMs) holder.removable.push(stored);
  }
  return holders;
}

/** Returns the first folder of the key of a file. */
function readFolder(directory: string, path: string): string | undefined {
  return relative(directory, path).split(sep)[0];
}

/** `file` identifies the file. */
type StoredFile = { path: string; file: string; size: number; writtenMs: number };

async function listFiles(directory: string): Promise<StoredFile[]> {
  const files: StoredFile[] = [];
  for await (const entry of await opendir(directory, { recursive: true })) {
    if (!entry.isFile()) continue;
    const path = join(entry.parentPath, entry.name);
    // A file that was removed since takes no space.
    const stats = await lstat(path, { bigint: true }).catch(() => undefined);
    if (stats)
      files.push({
        path,
        file: `${stats.dev} ${stats.ino}`,
        size: Number(stats.size),
        writtenMs: Number(stats.mtimeMs),
      });
  }
  return files;
}
