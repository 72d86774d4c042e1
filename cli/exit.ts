import { CommanderError } from 'commander';
import { DataDirectoryError } from '../adapters/embedded/data-directory-error.ts';
import { WatchpostError } from '../core/errors.ts';
import { CommandError } from './command-error.ts';
import { SettingsError } from './settings.ts';

/** 0 done (help is), 1 failed, 2 wrong usage or settings. */
export function toExitCode(error: unknown): number {
  if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : 2;
  return error instanceof SettingsError ? 2 : 1;
}

/** What a person reads of an error: what happened, and what to do next. */
export function formatError(error: unknown): string[] {
  // Commander has printed its own.
  if (error instanceof CommanderError) return [];
  if (error instanceof SettingsError) return [error.message, 'See watchpost start --help for every setting.'];
  if (
    error instanceof CommandError ||
    error instanceof WatchpostError ||
    error instanceof DataDirectoryError
  ) {
    return [`Error: ${error.message}`, error.remediation];
  }
  return [error instanceof Error ? (error.stack ?? error.message) : String(error)];
}
