import { expect, test } from 'vitest';
import { createApp } from '../../../adapters/http/app.ts';
import { mintKey } from '../../../core/access/api-key.ts';
import { createWorld } from '../../support/world.ts';

test('a text of many partial matches is repeated unchanged', async () => {
  const world = createWorld();
  const minted = mintKey(
    { caller: 'harbour', scopes: ['jobs', 'keys'], label: null },
    world.c.now(),
    world.c,
  );
  await world.c.keys.put(minted.key);
  const response = await createApp(world.c).request('/api/live-monitor', {
    method: 'POST',
    headers: { authorization: `Bearer ${minted.text}`, 'content-type': 'application/json' },
    body: JSON.stringify({ stream_url: 'a-'.repeat(2000) }),
  });
  expect(response.status).toBe(422);
  const { detail } = (await response.json()) as any;
  expect(detail[0].input).toMatch(/^(a-)+…$/);
});
