import type { Watch, Watchpost } from '../../client/index.ts';
import { findNearestName } from '../../core/nearest-name.ts';
import { CommandError } from '../command-error.ts';

/** Lists all watches of the key's caller, oldest first. */
export async function listAllWatches(client: Watchpost): Promise<Watch[]> {
  const matches: Watch[] = [];
  for (;;) {
    const { watches, total } = await client.listWatches({ limit: 100, offset: matches.length });
    matches.push(...watches);
    if (watches.length === 0 || matches.length >= total) return matches;
  }
}

/** Finds a watch by its name or id. Throws `CommandError` for an unknown name, or one of several watches. */
export async function findWatch(which: string, client: Watchpost): Promise<Watch> {
  const all = await listAllWatches(client);
  const matches = all.filter(({ name, watch_id: id }) => id === which || name === which);
  const [watch] = matches;
  if (watch !== undefined && matches.length === 1) return watch;
  if (watch !== undefined)
    throw new CommandError(
      `${matches.length} watches are named "${which}"`,
      `Use an id: ${matches.map(({ watch_id: id }) => id).join(', ')}.`,
    );
  const nearest = findNearestName(
    which,
    all.map(({ name }) => name),
  );
  throw new CommandError(
    `There is no watch "${which}".${nearest === undefined ? '' : ` Did you mean "${nearest}"?`}`,
    'List the watches with watch list.',
  );
}
