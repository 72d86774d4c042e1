import { z } from 'zod';
import { itemKeys, sortPrefixes } from './keys.ts';
import { readItem } from './record.ts';
import { keyPrefixes } from './table-layout.ts';
import type { Table } from './table.ts';

/** Releases of the deployment that were live: a smoke test passed, or they served for an hour. */
export type ReleaseStore = {
  /** Adds minutes for which a release served. */
  addServed(release: string, minutes: number): Promise<void>;
  /** Records that a smoke test of a release passed. */
  addTested(release: string, at: Date): Promise<void>;
  listLive(): Promise<Set<string>>;
};

const minServedMinutes = 60;

/** Creates the store of releases in the table. */
export function createReleases(table: Table): ReleaseStore {
  return {
    addServed: async (release, minutes) => {
      const key = itemKeys.release(release);
      await table.write({
        kind: 'update',
        key,
        change: 'ADD #served_minutes :more',
        values: { ':more': minutes },
      });
    },
    addTested: async (release, at) => {
      const key = itemKeys.release(release);
      await table.write({
        kind: 'update',
        key,
        change: 'SET #tested_at = :at',
        values: { ':at': at.toISOString() },
      });
    },
    listLive: async () => {
      const items = await table.query({
        where: '#pk = :pk AND begins_with(#sk, :prefix)',
        values: { ':pk': keyPrefixes.deployment, ':prefix': sortPrefixes.release },
      });
      const releases = items.map((item) => readItem(releaseSchema, item));
      return new Set(
        releases
          .filter((each) => each.tested_at !== undefined || each.served_minutes >= minServedMinutes)
          .map(({ sk }) => sk.slice(sortPrefixes.release.length)),
      );
    },
  };
}

const releaseSchema = z.object({
  sk: z.string(),
  served_minutes: z.int().default(0),
  tested_at: z.iso.datetime().optional(),
});
