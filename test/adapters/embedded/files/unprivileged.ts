import { chmodSync } from 'node:fs';

/** Runs `work` as an unprivileged user, because file modes do not restrict root, the user of containers. */
export async function asUnprivileged<T>(work: () => Promise<T>): Promise<T> {
  if (process.geteuid?.() !== 0) return work();
  process.seteuid?.(65_534);
  try {
    return await work();
  } finally {
    process.seteuid?.(0);
  }
}

/** Makes the directory writable for root only and readable for all users. */
export function makeReadOnly(path: string): void {
  chmodSync(path, 0o555);
}
