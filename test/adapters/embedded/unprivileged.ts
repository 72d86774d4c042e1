import { chmodSync } from 'node:fs';

/** Runs `work` as a user whom file modes bind: root, whom containers run tests as, may write anywhere. */
export async function asUnprivileged<T>(work: () => Promise<T>): Promise<T> {
  if (process.geteuid?.() !== 0) return work();
  process.seteuid?.(65_534);
  try {
    return await work();
  } finally {
    process.seteuid?.(0);
  }
}

/** Nobody but root may write into the directory, and everybody may read it. */
export function makeReadOnly(path: string): void {
  chmodSync(path, 0o555);
}
