import { expect, test } from 'vitest';
import { createCallerStore } from '../../../../adapters/embedded/callers/caller-store.ts';
import { openDatabase } from '../../../../adapters/embedded/sqlite/database.ts';
import { createUsageLedger } from '../../../../adapters/embedded/callers/usage.ts';
import { groupCommits } from '../../../../adapters/embedded/sqlite/group-commit.ts';
import { newCaller, noUse } from '../../../../core/records/caller.ts';
import { start } from '../../../contract/records.ts';
import { describeUsageLedger } from '../../../contract/usage-ledger.contract.ts';

describeUsageLedger('The embedded ledger', async () => {
  const database = openDatabase(':memory:');
  return { usage: createUsageLedger(database), callers: createCallerStore(database) };
});

async function openWithCaller() {
  const database = openDatabase(':memory:');
  await createCallerStore(database).add(newCaller('harbour', null, start));
  return database;
}

test('a day is removed 400 days later', async () => {
  const ledger = createUsageLedger(await openWithCaller());
  const call = { ...noUse, model_calls: 1 };
  for (const day of ['2025-01-01', '2025-01-02', '2026-02-06']) await ledger.add('harbour', day, call);
  const days = await ledger.days('harbour', '2025-01-01', '2026-12-31');
  expect(days.map(({ day }) => day)).toEqual(['2025-01-02', '2026-02-06']);
});

test('counts are committed with the commit that follows, and a failed one is reported', async () => {
  const database = await openWithCaller();
  const commits: string[] = [];
  const exec = database.exec.bind(database);
  database.exec = (sql) => {
    commits.push(...(sql === 'COMMIT' ? [sql] : []));
    exec(sql);
  };
  const errors: unknown[] = [];
  const ledger = createUsageLedger(database, (error) => errors.push(error));
  const call = { ...noUse, model_calls: 1 };
  await Promise.all([1, 2, 3].map(() => ledger.add('harbour', '2026-03-01', call)));
  await groupCommits(database)(() => undefined);
  expect(commits).toHaveLength(1);
  expect((await ledger.days('harbour', '2026-03-01', '2026-03-01'))[0]?.use.model_calls).toBe(3);
  exec('DROP TABLE caller_use');
  await ledger.add('harbour', '2026-03-01', call);
  await groupCommits(database)(() => undefined);
  expect(errors).toHaveLength(1);
});
