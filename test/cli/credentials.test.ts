import { chmodSync, readFileSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { credentialsFile, writeCredentials } from '../../cli/credentials.ts';
import { folderOfTest } from '../support/temporary-folder.ts';

const credentials = {
  base_url: 'http://127.0.0.1:8787/api',
  pid: 1,
  api_key: 'wp_1',
  internal_api_key: 'wp_2',
  webhook_secret: 'whsec_1',
};

test('the credentials file is readable by its owner only, even if a partial file was readable by all', async () => {
  const directory = folderOfTest();
  const partial = `${credentialsFile(directory)}.part`;
  writeFileSync(partial, 'half');
  chmodSync(partial, 0o666);

  await writeCredentials(directory, credentials);

  expect(statSync(credentialsFile(directory)).mode & 0o777).toBe(0o600);
  expect(JSON.parse(readFileSync(credentialsFile(directory), 'utf8'))).toEqual(credentials);
});

test('the credentials file is not written through a symbolic link', async () => {
  const directory = folderOfTest();
  const elsewhere = join(directory, 'elsewhere');
  writeFileSync(elsewhere, 'kept');
  symlinkSync(elsewhere, `${credentialsFile(directory)}.part`);

  await writeCredentials(directory, credentials);

  expect(readFileSync(elsewhere, 'utf8')).toBe('kept');
  expect(statSync(credentialsFile(directory)).mode & 0o777).toBe(0o600);
});
