import { embeddedRuns } from '../../../support/select-runs.ts';
import { mkdirSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { createCallerUsage } from '../../../../adapters/caller-usage.ts';
import { createCallerEraser, createCallerStore } from '../../../../adapters/embedded/callers/caller-store.ts';
import { openDatabase, openForReading } from '../../../../adapters/embedded/sqlite/database.ts';
import { createDeliveryMessageTable } from '../../../../adapters/embedded/queue/delivery-queue.ts';
import { createRunRemoval } from '../../../../adapters/embedded/runs/run-tables.ts';
import { createDeliveryStore } from '../../../../adapters/embedded/queue/delivery-store.ts';
import { createKeyStore } from '../../../../adapters/embedded/callers/key-store.ts';
import { createLogBuffer } from '../../../../adapters/embedded/log/log.ts';
import { createMediaStore } from '../../../../adapters/embedded/files/media-store.ts';
import { markDeleted, removeDeleted } from '../../../../adapters/embedded/sqlite/vacuum.ts';
import { createUsageLedger } from '../../../../adapters/embedded/callers/usage.ts';
import { describeCallerEraser } from '../../../contract/caller-eraser.contract.ts';
import { describeForgetting } from '../../../contract/forgotten-moments.contract.ts';
import { start, webhookMessage } from '../../../contract/records.ts';
import { folderOfTest } from '../../../support/temporary-folder.ts';

async function openStores() {
  const folder = folderOfTest();
  const path = join(folder, 'watchpost.sqlite');
  const media = createMediaStore(join(folder, 'media'));
  mkdirSync(join(folder, 'media'));
  const database = openDatabase(path);
  const runs = embeddedRuns(database);
  const log = { warning: () => undefined };
  const ledger = createUsageLedger(database);
  return {
    stores: {
      ...runs,
      media,
      callers: createCallerStore(database),
      keys: createKeyStore(database),
      deliveries: createDeliveryStore(database),
      eraser: createCallerEraser(database),
      usage: createCallerUsage({ ledger, modelPrice: null, log, now: () => start }),
    },
    readAll: async () => {
      // As the service does after its answer.
      await removeDeleted(database, async () => undefined);
      const copy = join(folder, 'backup');
      rmSync(copy, { force: true });
      const reading = openForReading(path);
      reading.prepare('VACUUM INTO ?').run(copy);
      reading.close();
      return readdirSync(folder, { recursive: true, withFileTypes: true })
        .filter((entry) => entry.isFile())
        .map((entry) => join(entry.parentPath, entry.name))
        .map((file) => `${file}\n${readFileSync(file, 'latin1')}`)
        .join('\n');
    },
    sweep: async (now: Date) => {
      await media.remove(await runs.moments.sweep(now));
      // As the service does each hour.
      markDeleted(database);
    },
    evict: async () => {
      await media.trim({
        maxBytes: 0,
        needed: new Set(),
        releasePictures: runs.moments.releasePictures,
        findCaller: async (id) => (await runs.runs.source(id))?.caller,
        now: start,
      });
    },
  };
}

describeCallerEraser('The data directory', openStores);
describeForgetting('The data directory', openStores);

test('the log forgets the entries about an erased watch and its caller, and keeps all others', async () => {
  const log = createLogBuffer({ level: 'info', now: () => start });
  for (const message of [
    '[JOB:1b7f0c2e] Job ended',
    '[WATCH:1b7f0c2e] Alert',
    '[JOB:aaaaaaaa] Job ended',
    'Started',
  ])
    log.info(message);
  const id = '1b7f0c2e-1111-4111-8111-111111111111';
  log.warning('Evidence of a deleted watch not removed yet', { watch_id: id });
  log.info('Watch created', { caller: 'harbour', watch_id: '2c7f0c2e-1111-4111-8111-111111111111' });
  log.info('Watch created', { caller: 'harbour south' });
  await log.forget?.({ id });
  await log.forget?.({ caller: 'harbour' });
  expect((await log.entries()).map(({ message }) => message)).toEqual([
    '[JOB:aaaaaaaa] Job ended',
    'Started',
    'Watch created caller="harbour south"',
  ]);
});

test('no table names a run that was removed, nor one that was sent for it within five minutes', async () => {
  const database = openDatabase(':memory:');
  const [removed, other] = ['1b7f0c2e-1111-4111-8111-111111111111', '2c7f0c2e-1111-4111-8111-111111111111'];
  const messages = createDeliveryMessageTable(database);
  for (const id of [removed, other]) await messages.add(webhookMessage(id, 1), start);
  createRunRemoval(database)(removed);
  const tables = database.prepare("SELECT name FROM sqlite_schema WHERE type = 'table'").all();
  const rows = tables.flatMap(({ name }) => database.prepare(`SELECT * FROM ${String(name)}`).all());
  expect(JSON.stringify(rows)).not.toContain(removed);
  expect(JSON.stringify(rows)).toContain(other);
  database.close();
});
