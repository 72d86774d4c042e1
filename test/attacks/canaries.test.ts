import { readFile } from 'node:fs/promises';
import { connect } from 'node:net';
import { expect, test } from 'vitest';
import { freePort } from '../support/servers/free-port.ts';
import { openCanaries } from './canaries.ts';

test('canaries report every access', async () => {
  const canaries = await openCanaries(Buffer.from('video'));
  for (const host of ['127.0.0.1', '::1', '127.255.255.254']) {
    await new Promise((resolve) => connect(canaries.port, host).on('close', resolve));
  }
  await readFile(canaries.file);
  expect(canaries.touched().filter((touch) => touch.startsWith('tcp'))).toHaveLength(3);
  expect(canaries.touched()).toContain(`attempt ::1:${canaries.port}`);
  const attempt = async (port: number) =>
    new Promise((resolve) =>
      connect(port, '127.0.0.1')
        .on('error', () => undefined)
        .on('close', resolve),
    );
  // A server of another test is no canary.
  const given = await freePort();
  for (const port of [11, 27_017, given]) await attempt(port);
  const attempts = canaries.touched().filter((touch) => touch.startsWith('attempt 127.0.0.1:'));
  expect(attempts.slice(-2)).toEqual(['attempt 127.0.0.1:11', 'attempt 127.0.0.1:27017']);
  await canaries.close();
});
