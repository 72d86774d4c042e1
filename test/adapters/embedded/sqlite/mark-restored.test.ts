import { embeddedRuns } from '../../../support/select-runs.ts';
import { expect, test } from 'vitest';
import { openDatabase } from '../../../../adapters/embedded/sqlite/database.ts';
import { createDeliveryStore } from '../../../../adapters/embedded/queue/delivery-store.ts';
import { markRestored } from '../../../../adapters/embedded/sqlite/mark-restored.ts';
import { initialDestinationState } from '../../../../core/delivery/destination-state.ts';
import { initialDelivery } from '../../../../core/records/delivery.ts';
import { rules } from '../../../../core/rules.ts';
import { begin, createCreation, newJob, start, webhookKey } from '../../../contract/records.ts';
import { newCreation, toStored } from '../../../contract/watch-records.ts';

test('a restored database continues above the numbers of the lost time, and delivers nothing of the backup', async () => {
  const database = openDatabase(':memory:');
  const [jobs, watches, deliveries] = [
    embeddedRuns(database).jobs,
    embeddedRuns(database).watches,
    createDeliveryStore(database),
  ];
  const job = newJob();
  await jobs.create(createCreation(job), start);
  await jobs.commit(begin(job));
  const before = (await jobs.get(job.run_id, start))!;
  const creation = newCreation();
  await watches.create(creation, start);
  await deliveries.put(initialDelivery(webhookKey(job.run_id, 1), 'job_started'), start);
  const waiting = [{ sequence: 1, subject: 'stream', attempts: 1, resend: 0 }];
  const destination = { run: 'watch', run_id: creation.run_id, destination_id: 'team' } as const;
  const state = { ...initialDestinationState({ ...destination, fingerprint: 'f1' }), waiting };
  await deliveries.changeState(state, () => state);

  markRestored(database);

  const sequence = before.sequence + rules.restoredJump;
  expect(await jobs.get(job.run_id, start)).toEqual({ ...before, sequence, published: sequence });
  const run = (await watches.get(creation.run_id, new Date(0)))!;
  const jumped = creation.sequence + rules.restoredJump;
  expect(run).toEqual({
    ...toStored(creation),
    sequence: jumped,
    published: jumped,
    state: { ...creation.state, openings: creation.state.openings + rules.restoredJump },
  });
  expect(await watches.secrets(creation.run_id)).toEqual(creation.secrets);
  expect(await watches.dueForRepair(start, 10)).toEqual([]);
  expect(await deliveries.get(webhookKey(job.run_id, 1))).toMatchObject({
    state: 'failed',
    next_attempt_at: null,
    error: expect.stringContaining('restored from a backup'),
  });
  expect(await deliveries.state(state)).toEqual({ ...state, waiting: [] });

  // A reader of the lost time has a position beyond the backup.
  const next = newCreation();
  await watches.create(next, start);
  const { entries } = await watches.feed('alice', String(rules.restoredJump), 10, start);
  expect(entries.map(({ watch }) => watch.run_id)).toEqual([next.run_id]);
});
