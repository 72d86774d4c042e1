import { lstat, opendir, rm, rmdir } from 'node:fs/promises';
import { join } from 'node:path';

/**
 * Removes the files under `directory` that were last written before `olderThan`, half-written ones too, and the folders
 * that this empties. Returns how many files.
 */
export async function sweepMedia(directory: string, olderThan: Date): Promise<number> {
  let removed = 0;
  for await (const entry of await opendir(directory)) {
    const path = join(directory, entry.name);
    // Asked before anything in a folder is removed. One that is young was made for a picture that is on its way.
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

/** A half-written file that has just got its name is gone by its old one, and young. */
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
