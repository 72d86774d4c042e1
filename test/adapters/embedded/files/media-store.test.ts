import { randomUUID } from 'node:crypto';
import { mkdirSync, readdirSync, statSync, utimesSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect, test } from 'vitest';
import { createMediaStore, mediaFiles } from '../../../../adapters/embedded/files/media-store.ts';
import { TransientError } from '../../../../core/errors.ts';
import { describeMediaStore } from '../../../contract/media-store.contract.ts';
import { folderOfTest } from '../../../support/temporary-folder.ts';
import { asUnprivileged, makeReadOnly } from './unprivileged.ts';

describeMediaStore('The embedded store', async () => createMediaStore(folderOfTest()));

test.each([
  '../outside.jpg',
  'captures/../../outside.jpg',
  'captures/..%2Foutside.jpg',
  '/etc/outside.jpg',
  'captures//1-a.jpg',
  'captures/./1-a.jpg',
  'captures/1-a.jpg\0.mp4',
  'captures/1-a.png',
  'captures\\1-a.jpg',
  'captures/.hidden/1-a.jpg',
  '1-a.jpg',
  '',
  `captures/${'a'.repeat(300)}.jpg`,
])('the key %j is rejected for reads and writes', async (key) => {
  const directory = folderOfTest();
  const store = createMediaStore(join(directory, 'media'));

  await expect(store.put(key, Buffer.from('x'), 'image/jpeg')).rejects.toThrow(RangeError);
  await expect(store.get(key)).rejects.toThrow(RangeError);
  expect(readdirSync(directory)).toEqual([]);
});

test('a stored frame leaves no other file and is readable by its owner only', async () => {
  const directory = folderOfTest();
  const key = newKey();

  await createMediaStore(directory).put(key, Buffer.from('x'), 'image/jpeg');

  expect(files(directory)).toEqual([key]);
  expect(statSync(join(directory, key)).mode & 0o777).toBe(0o600);
});

test('a sweep removes old files, incomplete ones too, and the folders that become empty', async () => {
  const directory = folderOfTest();
  const store = createMediaStore(directory);
  const [old, young] = [newKey(), newKey()];
  await store.put(old, Buffer.from('x'), 'image/jpeg');
  await store.put(young, Buffer.from('x'), 'image/jpeg');
  const half = `${young}.${randomUUID()}.part`;
  writeFileSync(join(directory, half), 'x');
  for (const name of [old, half, dirname(old)]) setAge(join(directory, name), 90_000);

  expect(await store.sweep(new Date(Date.now() - 86_400_000))).toBe(2);

  expect(files(directory)).toEqual([young]);
  expect(readdirSync(join(directory, 'captures'))).toHaveLength(1);
  expect(await store.get(old)).toBeUndefined();
});

test('a sweep keeps an empty folder that was just created for the next frame', async () => {
  const directory = folderOfTest();
  mkdirSync(join(directory, 'captures', 'new'), { recursive: true });

  await createMediaStore(directory).sweep(new Date(Date.now() - 86_400_000));

  expect(readdirSync(join(directory, 'captures'))).toEqual(['new']);
});

test('a directory that is not writable is a transient error, and writes continue when it is writable', async () => {
  const directory = folderOfTest();
  makeReadOnly(directory);
  const store = createMediaStore(directory);

  const failing = asUnprivileged(() => store.put(newKey(), Buffer.from('x'), 'image/jpeg'));

  await expect(failing).rejects.toThrow(TransientError);
  await expect(failing).rejects.toThrow('The data directory cannot be written');
});

test('jobs that share a capture write its frame once, and each removes its own', async () => {
  const { store, directory, counts } = countedStore();
  const frame = Buffer.from('frame');
  const keys = Array.from({ length: 10 }, newKey);
  for (const key of keys) mkdirSync(dirname(join(directory, key)), { recursive: true });

  await Promise.all(keys.map((key) => store.put(key, frame, 'image/jpeg')));
  expect(counts.write).toBe(1);
  expect(new Set(keys.map((key) => statSync(join(directory, key)).ino)).size).toBe(1);

  await store.remove(keys.slice(0, 9));
  expect(files(directory)).toEqual([keys[9]]);
  expect(Buffer.from((await createMediaStore(directory).get(keys[9]!))!)).toEqual(frame);
});

test('a frame is written again if its first file was removed, or if its folder is missing', async () => {
  const { store, directory, counts } = countedStore();
  const frame = Buffer.from('frame');
  const [first, second, third] = [newKey(), newKey(), newKey()];
  await store.put(first, frame, 'image/jpeg');
  await store.remove([first]);
  await store.put(second, frame, 'image/jpeg');
  await store.put(third, frame, 'image/jpeg');

  expect(counts.write).toBe(3);
  expect(files(directory).toSorted()).toEqual([second, third].toSorted());
});

test('a file system without links gets a file for each key', async () => {
  const directory = folderOfTest();
  const link = async () => {
    throw Object.assign(new Error('not supported'), { code: 'EPERM' });
  };
  const store = createMediaStore(directory, { ...mediaFiles, link });
  const frame = Buffer.from('frame');
  const keys = [newKey(), newKey()];
  for (const key of keys) await store.put(key, frame, 'image/jpeg');

  expect(files(directory).toSorted()).toEqual(keys.toSorted());
});

test('evidence that is stored again under its key is as young as the time of that', async () => {
  const directory = folderOfTest();
  const store = createMediaStore(directory);
  const key = `evidence/7/${randomUUID()}/1-a.jpg`;
  const frame = Buffer.from('frame');
  await store.put(key, frame, 'image/jpeg');
  setAge(join(directory, key), 8 * 86_400);
  await store.put(key, (await store.get(key))!, 'image/jpeg');

  expect(await store.sweep(new Date(Date.now() - 86_400_000))).toBe(0);
  expect(files(directory)).toEqual([key]);
});

test('a frame that a check reads right after its capture is not read from the disk', async () => {
  const directory = folderOfTest();
  const store = createMediaStore(directory);
  const [key, frame] = [newKey(), Buffer.from('frame')];
  await store.put(key, frame, 'image/jpeg');

  expect(await store.get(key)).toBe(frame);
  await store.remove([key]);
  expect(await store.get(key)).toBeUndefined();
});

test('a frame that a sweep, a trim or the end of its source removes is gone', async () => {
  const directory = folderOfTest();
  const store = createMediaStore(directory);
  const old = new Date(Date.now() + 90_000_000);
  for (const remove of [
    () => store.sweep(old),
    () => store.trim({ maxBytes: 0, needed: new Set(), now: old }),
    (key: string) => store.removeOfSource(key.split('/')[1]!),
  ]) {
    const key = newKey();
    await store.put(key, Buffer.from('frame'), 'image/jpeg');
    await remove(key);
    expect(await store.get(key)).toBeUndefined();
  }
});

test('the folder of a source is removed while a tick stores frames in it', async () => {
  const directory = folderOfTest();
  const store = createMediaStore(directory);
  const sourceId = randomUUID();
  const removing = new AbortController();
  const tick = async () => {
    for (let index = 0; !removing.signal.aborted; index += 1)
      await store
        .put(`captures/${sourceId}/${index}-${randomUUID()}.jpg`, Buffer.from('x'), 'image/jpeg')
        .catch((error: unknown) => expect(error).toBeInstanceOf(TransientError));
  };
  const ticks = Promise.all([tick(), tick(), tick()]);
  const removals = [];
  for (let removal = 0; removal < 20; removal += 1)
    removals.push(await store.removeOfSource(sourceId).catch((error: unknown) => error));
  removing.abort();
  await ticks;
  expect(removals).toEqual(removals.map(() => expect.any(Number)));
});

test('a folder in place of a frame is not a frame', async () => {
  const directory = folderOfTest();
  const key = newKey();
  mkdirSync(join(directory, key), { recursive: true });

  await expect(createMediaStore(directory).get(key)).rejects.toThrow('EISDIR');
});

function countedStore() {
  const directory = folderOfTest();
  const counts = { write: 0 };
  const write: typeof mediaFiles.write = async (path, bytes) => {
    counts.write += 1;
    return mediaFiles.write(path, bytes);
  };
  return { store: createMediaStore(directory, { ...mediaFiles, write }), directory, counts };
}

function newKey(): string {
  return `captures/${randomUUID()}/1-a.jpg`;
}

function files(directory: string): string[] {
  return readdirSync(directory, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name).slice(directory.length + 1));
}

function setAge(path: string, ageSeconds: number): void {
  const at = Date.now() / 1_000 - ageSeconds;
  utimesSync(path, at, at);
}
