import { DatabaseSync } from 'node:sqlite';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { createCallerStore } from '../../../adapters/embedded/caller-store.ts';
import { openDatabase } from '../../../adapters/embedded/database.ts';
import { migrations } from '../../../adapters/embedded/schema.ts';
import { newCaller } from '../../../core/records/caller.ts';
import type { ApiKey } from '../../../core/records/key.ts';
import { describeCallerStore } from '../../contract/caller-store.contract.ts';
import { after, start } from '../../contract/records.ts';
import { folderOfTest } from '../../support/temporary-folder.ts';

describeCallerStore('The embedded store', async () => createCallerStore(openDatabase(':memory:')));

test('the migration creates callers for existing keys', async () => {
  const path = join(folderOfTest(), 'watchpost.sqlite');
  const before = new DatabaseSync(path);
  before.exec(migrations[0]!);
  before.exec('PRAGMA user_version = 1');
  const insert = before.prepare('INSERT INTO api_keys VALUES (?, ?, ?, ?)');
  for (const [caller, at] of [
    ['harbour', after(5)],
    ['harbour', start],
    ['airport', after(9)],
  ] as const)
    insert.run(...toRow(toKey(caller, at)));
  before.close();

  const callers = await createCallerStore(openDatabase(path)).list('', 10);

  expect(callers).toEqual([newCaller('airport', null, after(9)), newCaller('harbour', null, start)]);
});

function toKey(caller: string, at: Date): ApiKey {
  const hash = `${caller}${at.getTime()}`.padEnd(64, '0');
  const created_at = at.toISOString();
  return {
    hash,
    prefix: 'wp_4f9a',
    caller,
    scopes: ['jobs'],
    scopes_version: 2,
    label: null,
    created_by: null,
    created_at,
    last_used_at: null,
    revoked_at: null,
  };
}

function toRow(key: ApiKey): [string, string, number, string] {
  return [key.hash, key.caller, Date.parse(key.created_at), JSON.stringify(key)];
}
