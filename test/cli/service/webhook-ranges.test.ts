import { randomBytes } from 'node:crypto';
import { expect, test } from 'vitest';
import { nodeKeyCrypto } from '../../../adapters/machine.ts';
import { openService } from '../../../cli/service/service.ts';
import { readSettings } from '../../../cli/settings.ts';
import { mintKey } from '../../../core/access/api-key.ts';
import { createCollectedLog } from '../../adapters/embedded/log/collected-log.ts';
import { folderOfTest } from '../../support/temporary-folder.ts';
import { startReceiver } from '../../adapters/destinations/receiver.ts';

test('ranges for streams do not apply to webhooks, which have their own setting', async () => {
  const receiver = await startReceiver((_, response) => response.writeHead(204).end());
  const closed = await ask(receiver.url, { WATCHPOST_ALLOW_RANGES: '127.0.0.0/8' });
  expect(closed).toMatchObject({
    status: 400,
    body: {
      error: { code: 'INVALID_URL', remediation: expect.stringContaining('WATCHPOST_ALLOW_WEBHOOK_RANGES') },
    },
  });
  expect(receiver.received).toHaveLength(0);
  const open = await ask(receiver.url, { WATCHPOST_ALLOW_WEBHOOK_RANGES: '127.0.0.0/8' });
  expect(open).toMatchObject({ status: 200, body: { error: null } });
  expect(receiver.received).toHaveLength(1);
});

test('ranges for webhooks do not apply to streams', async () => {
  const { status, body } = await ask(
    'http://127.0.0.1:9/live.m3u8',
    {
      WATCHPOST_ALLOW_WEBHOOK_RANGES: '127.0.0.0/8',
    },
    '/streams/validate',
    'stream_url',
  );
  expect([status, body.error?.code]).toEqual([400, 'INVALID_URL']);
});

/** Returns the response of a service with these settings, without a port. */
async function ask(url: string, env: Record<string, string>, path = '/webhook-test', field = 'webhook_url') {
  const settings = readSettings({}, { ...env, WATCHPOST_DATA_DIR: folderOfTest() });
  const service = await openService(
    settings,
    { path: 'ffmpeg', source: 'PATH', version: '7' },
    { baseUrl: 'http://watchpost.test/api', port: 80, delivers: true },
    createCollectedLog(),
  );
  const { keys } = service.deps;
  const minted = mintKey({ caller: 'harbour', scopes: ['jobs'], label: null }, new Date(), {
    ...nodeKeyCrypto,
    randomBytes,
  });
  await keys.put(minted.key);
  const response = await service.app.request(`/api${path}`, {
    method: 'POST',
    headers: { authorization: `Bearer ${minted.text}`, 'content-type': 'application/json' },
    body: JSON.stringify({ [field]: url }),
  });
  const answer = { status: response.status, body: (await response.json()) as any };
  await service.close();
  return answer;
}
