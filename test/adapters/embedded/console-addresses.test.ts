import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { createConsoleAddresses } from '../../../adapters/embedded/console-addresses.ts';
import { createCollectedLog } from './log/collected-log.ts';
import { folderOfTest } from '../../support/temporary-folder.ts';

const home = 'http://192.168.1.5:8787';

test('the address at which a caller last opened the console is kept over a restart, for each caller', async () => {
  const folder = folderOfTest();
  const addresses = createConsoleAddresses(folder, createCollectedLog());
  expect(addresses.read('alice')).toBeUndefined();
  await addresses.opened('alice', 'http://127.0.0.1:8787');
  await addresses.opened('alice', home);
  await addresses.opened('bob', 'https://watch.lan');
  const reopened = createConsoleAddresses(folder, createCollectedLog());
  expect([reopened.read('alice'), reopened.read('bob')]).toEqual([home, 'https://watch.lan']);
});

test('the address of an erased caller is forgotten, also in the file', async () => {
  const folder = folderOfTest();
  const addresses = createConsoleAddresses(folder, createCollectedLog());
  await addresses.opened('alice', home);
  await addresses.opened('bob', home);
  await addresses.forget('alice');
  expect([addresses.read('alice'), addresses.read('bob')]).toEqual([undefined, home]);
  expect(readFileSync(join(folder, 'console-addresses.json'), 'utf8')).not.toContain('alice');
});

test.each(['http://127.0.0.1:8787', 'http://localhost:8787', 'http://[::1]:8787'])(
  'an address of this machine alone replaces no other: %s',
  async (loopback) => {
    const addresses = createConsoleAddresses(folderOfTest(), createCollectedLog());
    await addresses.opened('alice', home);
    await addresses.opened('alice', loopback);
    expect(addresses.read('alice')).toBe(home);
  },
);

test('a damaged file counts as none, and one that cannot be written is reported once', async () => {
  const folder = folderOfTest();
  writeFileSync(join(folder, 'console-addresses.json'), '{"alice": 7');
  const log = createCollectedLog();
  const addresses = createConsoleAddresses(join(folder, 'missing'), log);
  expect(createConsoleAddresses(folder, log).read('alice')).toBeUndefined();
  await addresses.opened('alice', home);
  expect(addresses.read('alice')).toBe(home);
  expect(log.entries.map(({ message }) => message)).toEqual([
    'The address of the console could not be stored',
  ]);
});
