import { readdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setImmediate } from 'node:timers/promises';
import { expect, onTestFinished, test } from 'vitest';
import { createCallerStore } from '../../../../adapters/embedded/callers/caller-store.ts';
import { DataDirectoryError } from '../../../../adapters/embedded/files/create-folder.ts';
import { openDatabase } from '../../../../adapters/embedded/sqlite/database.ts';
import {
  acceptMasterSecret,
  matchesMasterSecret,
  openMasterSecret,
} from '../../../../adapters/embedded/callers/master-secret.ts';
import { newCaller } from '../../../../core/records/caller.ts';
import { start } from '../../../contract/records.ts';
import { folderOfTest } from '../../../support/temporary-folder.ts';

function newDatabase() {
  const database = openDatabase(':memory:');
  onTestFinished(() => database.close());
  return database;
}

/** Database of a release before the fingerprint, in use. */
async function usedDatabase() {
  const database = newDatabase();
  await createCallerStore(database).add(newCaller('default', null, start));
  return database;
}

const newPath = () => join(folderOfTest(), 'master-secret');

test('the master secret is created once, is readable by its owner only, and stays the same', async () => {
  const directory = folderOfTest();
  const path = join(directory, 'master-secret');
  const database = newDatabase();

  const made = await openMasterSecret(path, database);

  expect(made).toHaveLength(32);
  expect(statSync(path).mode & 0o777).toBe(0o600);
  expect(readdirSync(directory)).toEqual(['master-secret']);
  expect(await openMasterSecret(path, database)).toEqual(made);
  expect(await openMasterSecret(newPath(), newDatabase())).not.toEqual(made);
});

test('the first of two concurrent processes creates the master secret', async () => {
  const directory = folderOfTest();
  const path = join(directory, 'master-secret');
  const others = Buffer.alloc(32, 9);

  const making = openMasterSecret(path, newDatabase());
  while (!readdirSync(directory).some((name) => name.endsWith('.part'))) await setImmediate();
  writeFileSync(path, others.toString('base64'), { flag: 'wx' });

  expect(await making).toEqual(others);
  expect(readdirSync(directory)).toEqual(['master-secret']);
});

test.each(['', 'c2hvcnQ=\n'])(
  'a file that holds %j is not replaced by a new master secret',
  async (content) => {
    const path = newPath();
    writeFileSync(path, content);

    await expect(openMasterSecret(path, newDatabase())).rejects.toThrow(DataDirectoryError);
    expect(statSync(path).size).toBe(content.length);
  },
);

test('a lost master secret is reported with both remedies, and no new one is created', async () => {
  const path = newPath();
  const database = newDatabase();
  await openMasterSecret(path, database);
  rmSync(path);

  for (const used of [database, await usedDatabase()])
    await expect(openMasterSecret(path, used)).rejects.toMatchObject({
      message: expect.stringContaining('is lost'),
      remediation: expect.stringMatching(/restore FOLDER --secret-only.*accept-secret/),
    });
  expect(await matchesMasterSecret(path, database)).toBe(false);
});

test('a master secret of another data directory is rejected', async () => {
  const path = newPath();
  const database = newDatabase();
  await openMasterSecret(path, database);
  writeFileSync(path, Buffer.alloc(32, 7).toString('base64'));

  await expect(openMasterSecret(path, database)).rejects.toThrow('is not the one');
  expect(await matchesMasterSecret(path, database)).toBe(false);
});

test('the database of an earlier release accepts its master secret, and no other from then on', async () => {
  const path = newPath();
  const database = await usedDatabase();
  writeFileSync(path, Buffer.alloc(32, 7).toString('base64'));

  expect(await openMasterSecret(path, database)).toEqual(Buffer.alloc(32, 7));
  writeFileSync(path, Buffer.alloc(32, 8).toString('base64'));
  await expect(openMasterSecret(path, database)).rejects.toThrow('is not the one');
});

test('an operator can accept another or a new master secret, once', async () => {
  const path = newPath();
  const database = await usedDatabase();
  acceptMasterSecret(database);
  const made = await openMasterSecret(path, database);
  acceptMasterSecret(database);
  writeFileSync(path, Buffer.alloc(32, 7).toString('base64'));

  expect(await openMasterSecret(path, database)).toEqual(Buffer.alloc(32, 7));
  writeFileSync(path, made.toString('base64'));
  await expect(openMasterSecret(path, database)).rejects.toThrow('is not the one');
});
