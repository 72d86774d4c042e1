import { embeddedRuns } from '../../../support/select-runs.ts';
import { randomUUID } from 'node:crypto';
import { symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { openDatabase } from '../../../../adapters/embedded/sqlite/database.ts';
import { openLogFlush } from '../../../../adapters/embedded/sqlite/group-commit.ts';
import { start } from '../../../contract/records.ts';
import { killWhen, runScript } from '../child-process.ts';
import { folderOfTest } from '../../../support/temporary-folder.ts';

test('a process that is killed repeatedly during commits leaves every job consistent', async () => {
  const path = join(folderOfTest(), 'watchpost.sqlite');
  const jobId = randomUUID();

  for (const goal of [20, 60]) {
    const child = runScript('sqlite/committing-process.ts', path, jobId);
    const acknowledged = Number(await killWhen(child, (line) => Number(line) >= goal));

    const database = openDatabase(path);
    const store = embeddedRuns(database).jobs;
    const job = await store.get(jobId, start);
    const events = await store.events(jobId, 0, 100_000, new Date(0));
    database.close();

    expect(acknowledged).toBeGreaterThanOrEqual(goal);
    expect(job!.sequence).toBeGreaterThanOrEqual(acknowledged);
    expect(job!.sequence).toBe(2 * job!.last_tick);
    expect(events.map((event) => event.sequence)).toEqual(
      Array.from({ length: job!.sequence }, (_, index) => index + 1),
    );
  }
});

test('a flush of the log is shared, and resolves for a file that is closed meanwhile and for memory', async () => {
  const database = openDatabase(join(folderOfTest(), 'watchpost.sqlite'));
  const flush = openLogFlush(database);
  database.exec('CREATE TABLE entries (name TEXT)');
  const [first, second] = [flush(), flush()];
  expect(second).toBe(first);
  await first;
  const last = flush();
  database.close();
  await last;
  await openLogFlush(openDatabase(':memory:'))();
});

test('a log that the disk does not take fails each flush', async () => {
  const path = join(folderOfTest(), 'watchpost.sqlite');
  // Nothing can be flushed to it.
  symlinkSync('/dev/null', `${path}-wal`);
  const flush = openLogFlush({ location: () => path });
  for (let time = 0; time < 2; time += 1) await expect(flush()).rejects.toThrow('fdatasync');
});
