import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setImmediate } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { openDatabase } from '../../../../adapters/embedded/sqlite/database.ts';
import { createRemovalInSteps } from '../../../../adapters/embedded/sqlite/vacuum.ts';

test('others have their turn while thousands of rows that expired together are removed', async () => {
  const database = openDatabase(':memory:');
  const insert = database.prepare("INSERT INTO deliveries VALUES ('run', ?, 'id', ?, '{}')");
  for (let row = 0; row < 1_500; row += 1) insert.run(row, row < 1_200 ? 1 : 3);
  const left = () => database.prepare('SELECT count(*) AS count FROM deliveries').get()?.['count'];
  const remove = createRemovalInSteps(database, {
    table: 'deliveries',
    key: 'run_id, sequence, destination_id',
    where: 'expires_at <= ?',
  });
  const removal = remove(2);
  const seen = [left()];
  await setImmediate();
  seen.push(left());
  expect(await removal).toBe(1_200);
  expect([...seen, left()]).toEqual([1_000, 500, 300]);
  database.close();
});

/** Deletions by age of few rows: one for each run, and those of five minutes. */
const few = ['queue/delivery-queue.ts', 'scheduler/motion-references.ts', 'callers/usage.ts'];

test('no other statement removes all rows of an age at a time', () => {
  const root = join(import.meta.dirname, '../../../../adapters/embedded');
  const files = readdirSync(root, { recursive: true, encoding: 'utf8' }).filter((file) =>
    file.endsWith('.ts'),
  );
  const byAge = /DELETE FROM \w+ WHERE [^'`]*(?:[<>]|BETWEEN)/;
  const found = files.filter((file) => byAge.test(readFileSync(join(root, file), 'utf8')));
  expect(found.toSorted()).toEqual([...few, 'runs/run-tables.ts'].toSorted());
});
