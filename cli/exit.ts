import { CommanderError } from 'commander';
import { ConnectionError, WatchpostError as ServiceError } from '../client/errors.ts';
import { DataDirectoryError } from '../adapters/embedded/files/create-folder.ts';
import { StorageError, TransientError, WatchpostError } from '../core/errors.ts';
import { CommandError } from './command-error.ts';
import { SettingsError } from './settings.ts';

/** Returns the exit code of an error: 0 for help, 1 for a failure, 2 for invalid usage or settings. */
export function toExitCode(error: unknown): number {
  if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : 2;
  return error instanceof SettingsError ? 2 : 1;
}

/** Returns the lines to print for an error: message and remediation. */
export function formatError(error: unknown): string[] {
  // Commander has already printed its own errors.
  if (error instanceof CommanderError) return [];
  if (error instanceof SettingsError)
    return [error.message, 'Use watchpost start --help to list all settings.'];
  if (
    error instanceof CommandError ||
    error instanceof WatchpostError ||
    error instanceof ServiceError ||
    error instanceof DataDirectoryError
  ) {
    return [`Error: ${error.message}`, error.remediation];
  }
  if (error instanceof ConnectionError)
    return [`Error: ${error.message}`, 'Start the service, or check --base-url: it ends in /api.'];
  if (error instanceof TransientError) return [`Error: ${error.message}`];
  if (error instanceof StorageError)
    return [
      `Error: The database cannot be read: ${error.message}`,
      'If this persists, restore a backup with: npm run watchpost -- restore FOLDER --data-dir DIR.',
    ];
  return [error instanceof Error ? (error.stack ?? error.message) : String(error)];
}

/** Time between two checks of the parent process, in milliseconds. */
const intervalMs = 500;

/**
 * Ends this process by SIGTERM once the shell in which npm runs it has ended. npm sends its signals to that shell, and
 * dash, the shell of Debian and Ubuntu, ends without passing them on. Does nothing without npm: a service may outlive
 * the shell that started it.
 */
export function endWithNpm({ env }: Pick<NodeJS.Process, 'env'> = process): void {
  if (!env['npm_lifecycle_script']?.includes('cli/watchpost.ts')) return;
  const shell = process.ppid;
  const timer = setInterval(() => {
    if (process.ppid === shell) return;
    clearInterval(timer);
    process.kill(process.pid, 'SIGTERM');
  }, intervalMs);
  timer.unref();
}
