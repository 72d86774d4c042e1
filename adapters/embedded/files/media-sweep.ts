import { lstat, opendir, rm, rmdir } from 'node:fs/promises';
import { join } from 'node:path';

/**
 * Removes files under `directory` last written before `olderThan`, incomplete ones too, and folders that become empty.
 * Returns the number of files. Leaves the folders `except`.
 */
export async function sweepMedia(
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

function isMissing(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === 'ENOENT';
}

function isNotEmpty(error: unknown): boolean {
  return error instanceof Error && 'code' in error && (error.code === 'ENOTEMPTY' || error.code === 'EEXIST');
}
