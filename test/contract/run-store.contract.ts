import { describe, expect, test } from 'vitest';
import type { JobStore } from '../../core/ports/job-store.ts';
import type { RunStore } from '../../core/ports/run-store.ts';
import type { WatchStore } from '../../core/ports/watch-store.ts';
import { after, begin, changed, createCreation, newJob, start } from './records.ts';
import { newChange, newCreation, toStored } from './watch-records.ts';

type Stores = { runs: RunStore; jobs: JobStore; watches: WatchStore };

/** Contract of `RunStore` for runs of several policies. `makeStores` returns empty stores. */
export function describeRunStore(name: string, makeStores: () => Promise<Stores>): void {
  describe(`${name} as a store of runs`, () => {
    async function withJobAndWatch() {
      const { runs, jobs, watches } = await makeStores();
      const job = newJob();
      await jobs.create(createCreation(job), start);
      await runs.commit(begin(job));
      const watch = newCreation({ caller: job.caller });
      await watches.create(watch, start);
      return { runs, jobs, watches, job, watch };
    }

    test('a store of runs has jobs and watches, which are due together and listed apart', async () => {
      const { runs, jobs, watches, job, watch } = await withJobAndWatch();
      const ids = [job.run_id, watch.run_id];

      expect(await runs.get(job.run_id, start)).toEqual(changed(job, begin(job)));
      expect(await runs.get(watch.run_id, start)).toEqual(toStored(watch));
      expect((await runs.dueForRepair(after(86_400), 10)).toSorted()).toEqual(ids.toSorted());
      const listed = await jobs.list({ caller: job.caller, limit: 10, offset: 0 }, start);
      expect(listed.jobs.map(({ run_id }) => run_id)).toEqual([job.run_id]);
      expect((await watches.list(job.caller)).map(({ run_id }) => run_id)).toEqual([watch.run_id]);
    });

    test('a purge removes a deleted watch, and neither a job nor a watch that exists', async () => {
      const { runs, job, watch } = await withJobAndWatch();
      for (const id of [job.run_id, watch.run_id]) await runs.purge(id);
      expect(await runs.get(job.run_id, start)).toBeDefined();
      const stored = await runs.get(watch.run_id, start);
      expect(stored).toBeDefined();

      await runs.commit(
        newChange({ ...watch, ...toStored(watch) }, { set: { deleted_at: start.toISOString() } }),
      );
      await runs.purge(watch.run_id);

      expect(await runs.getIncludingEnded(watch.run_id)).toBeUndefined();
      expect(await runs.events(watch.run_id, 0, 10, start)).toEqual([]);
    });
  });
}
