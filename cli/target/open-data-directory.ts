import { existsSync } from 'node:fs';
import { dataPaths } from '../../adapters/embedded/files/data-directory.ts';
import { openDatabase } from '../../adapters/embedded/sqlite/database.ts';
import { CommandError } from '../command-error.ts';

/** Opens the data directory of this machine's service, which may be running. */
export function openDataDirectory(dataDir: string) {
  const paths = dataPaths(dataDir);
  if (!existsSync(paths.database))
    throw new CommandError(
      `No service has used the data directory ${paths.path}`,
      'Use --data-dir or WATCHPOST_DATA_DIR with the data directory of the service. Its first start creates it.',
    );
  return { paths, database: openDatabase(paths.database) };
}
