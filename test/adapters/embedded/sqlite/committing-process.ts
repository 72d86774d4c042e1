import { embeddedRuns } from '../../../support/select-runs.ts';
import { openDatabase } from '../../../../adapters/embedded/sqlite/database.ts';
import {
  changed,
  createChange,
  createCreation,
  newJob,
  progress,
  start,
  triggered,
} from '../../../contract/records.ts';

/** Commits ticks continuously and prints each committed tick. `kill.test.ts` kills it. */
const [path = '', jobId = ''] = process.argv.slice(2);
const store = embeddedRuns(openDatabase(path)).jobs;
let job = (await store.get(jobId, start)) ?? newJob({ run_id: jobId });
await store.create(createCreation(job), start);
for (;;) {
  const tick = createChange(job, [progress, triggered], { set: { last_tick: job.last_tick + 1 } });
  if ((await store.commit(tick)) !== 'committed') throw new Error('Somebody else committed');
  job = changed(job, tick);
  process.stdout.write(`${job.sequence}\n`);
}
