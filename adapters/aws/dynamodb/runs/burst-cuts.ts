import { addCut, burstCutsSchema, type BurstCuts } from '../../../../core/workflow/burst.ts';
import { itemKeys } from '../table/keys.ts';
import { readItem } from '../table/record.ts';
import type { Table } from '../table/table.ts';

export type BurstCutStore = ReturnType<typeof createBurstCuts>;

/** Time for which an instance keeps what it read: ticks of all jobs ask for it, in milliseconds. */
const keptMs = 60_000;

export function createBurstCuts({ table, now }: { table: Table; now: () => Date }) {
  let kept: { cuts: BurstCuts | undefined; readAt: number } | undefined;
  return {
    /** Returns the stored cuts, up to a minute old. Returns undefined without a cut, and if they cannot be read. */
    read: async (): Promise<BurstCuts | undefined> => {
      if (kept === undefined || Math.abs(now().getTime() - kept.readAt) >= keptMs)
        // A tick needs the cuts less than its time.
        kept = { cuts: await read().catch(() => kept?.cuts), readAt: now().getTime() };
      return kept.cuts;
    },
    // Two functions at the same time can store one cut of two: the next burst is cut again.
    add: async (seconds: number): Promise<void> => {
      const cuts = addCut(await read(), seconds, now());
      await table.write({ kind: 'put', item: { ...itemKeys.burstCuts(), ...cuts } });
      kept = { cuts, readAt: now().getTime() };
    },
  };

  async function read(): Promise<BurstCuts | undefined> {
    const item = await table.get(itemKeys.burstCuts());
    return item && readItem(burstCutsSchema, item);
  }
}
