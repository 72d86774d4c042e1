import { readFile } from 'node:fs/promises';
import { connect } from 'node:net';
import { expect, test } from 'vitest';
import { openCanaries } from './canaries.ts';

test('canaries report every access', async () => {
  const canaries = await openCanaries(Buffer.from('video'));
  for (const host of ['127.0.0.1', '::1', '127.255.255.254']) {
    await new Promise((resolve) => connect(canaries.port, host).on('close', resolve));
  }
  await readFile(canaries.file);
  expect(canaries.touched().filter((touch) => touch.startsWith('tcp'))).toHaveLength(3);
  expect(canaries.touched()).toContain(`attempt ::1:${canaries.port}`);
  await canaries.close();
});
