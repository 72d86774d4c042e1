import { lstat, opendir, rm } from 'node:fs/promises';
import { join, relative, sep } from 'node:path';

export type MediaQuota = {
  /** Maximum size of all files, in bytes. */
  maxBytes: number;
  /** Keys of media that are needed: evidence of open alerts, newest frames. */
  needed: ReadonlySet<string>;
  now: Date;
};

/** Result of a trim. `bytes` is the size of what is left. */
export type Trimmed = { removed: number; bytes: number };

/** Age below which a file may belong to a tick that is under way, in milliseconds: longer than a capture and a model call take. */
const minAgeMs = 300_000;

/** Removes the oldest files under `directory` until the rest fits. Keeps files that are needed or young, even if they do not fit. */
export async function trimMedia(directory: string, { maxBytes, needed, now }: MediaQuota): Promise<Trimmed> {
  const files = await listFiles(directory);
  const names = countNames(files);
  let bytes = [...new Map(files.map(({ file, size }) => [file, size])).values()].reduce(
    (sum, size) => sum + size,
    0,
  );
  let removed = 0;
  for (const { path, file, size, writtenMs } of files.toSorted(
    (one, other) => one.writtenMs - other.writtenMs,
  )) {
    if (bytes <= maxBytes) break;
    if (now.getTime() - writtenMs < minAgeMs) continue;
    if (needed.has(relative(directory, path).split(sep).join('/'))) continue;
    await rm(path, { force: true });
    const left = (names.get(file) ?? 1) - 1;
    names.set(file, left);
    if (left === 0) bytes -= size;
    removed += 1;
  }
  return { removed, bytes };
}

/** `file` identifies the file: several names can be links to it, and its space is free when the last one is removed. */
type StoredFile = { path: string; file: string; size: number; writtenMs: number };

function countNames(files: readonly StoredFile[]): Map<string, number> {
  const names = new Map<string, number>();
  for (const { file } of files) names.set(file, (names.get(file) ?? 0) + 1);
  return names;
}

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
