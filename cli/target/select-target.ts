import { CommandError } from '../command-error.ts';

/**
 * Target service of the key commands: a running one by address and key, a deployment by stack or table, or the service
 * of this machine by its data directory.
 */
export type KeyTarget = {
  dataDir: string;
  baseUrl?: string | undefined;
  key?: string | undefined;
  stack?: string | undefined;
  table?: string | undefined;
};

/** The one service that the options name. */
export type SelectedTarget =
  | { kind: 'remote'; baseUrl: string; key: string }
  | { kind: 'deployed'; which: { stack: string } | { table: string } }
  | { kind: 'local'; dataDir: string };

/**
 * Selects the target of a command for operators. Throws `CommandError` if several services are named or a key is
 * missing.
 */
export function selectTarget({ dataDir, baseUrl, key, stack, table }: KeyTarget): SelectedTarget {
  const named = [baseUrl, stack, table].filter((place) => place !== undefined);
  if (named.length > 1)
    throw new CommandError('Several services are named', 'Use only one of --base-url, --stack and --table.');
  if (baseUrl !== undefined) {
    if (key === undefined)
      throw new CommandError('The service requires a key', 'Set --key or WATCHPOST_KEY.');
    return { kind: 'remote', baseUrl, key };
  }
  if (table !== undefined) return { kind: 'deployed', which: { table } };
  return stack === undefined ? { kind: 'local', dataDir } : { kind: 'deployed', which: { stack } };
}
