import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** Folder below the temporary folder of the system, with a method that deletes it. */
export type TemporaryFolder = Disposable & { path: string };

const open = new Set<string>();
const signals = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;

/**
 * Creates a folder that lasts until it is disposed of or the process ends, also by an error, Ctrl+C or SIGTERM.
 * `prefix` begins its name.
 */
export function openTemporaryFolder(prefix: string): TemporaryFolder {
  const path = mkdtempSync(join(tmpdir(), prefix));
  if (open.size === 0) deleteAtEnd();
  open.add(path);
  return {
    path,
    [Symbol.dispose]: () => {
      remove(path);
      if (open.size === 0) stopDeleting();
    },
  };
}

function deleteAtEnd(): void {
  process.on('exit', removeAll);
  // First in the list: a listener of `once` that has run is no longer counted.
  for (const signal of signals) process.prependListener(signal, onSignal);
}

function stopDeleting(): void {
  process.off('exit', removeAll);
  for (const signal of signals) process.off(signal, onSignal);
}

/** Ends the process as the signal would without this listener, unless a command waits for the signal itself. */
function onSignal(signal: NodeJS.Signals): void {
  if (process.listenerCount(signal) > 1) return;
  removeAll();
  stopDeleting();
  process.kill(process.pid, signal);
}

function removeAll(): void {
  for (const path of open) remove(path);
}

function remove(path: string): void {
  rmSync(path, { recursive: true, force: true, maxRetries: 3 });
  open.delete(path);
}
