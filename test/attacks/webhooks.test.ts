import { once } from 'node:events';
import { createServer } from 'node:http';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createCallLimiter } from '../../adapters/embedded/callers/call-limiter.ts';
import { createHttpSender, type HttpSender } from '../../adapters/destinations/http-sender.ts';
import { createHttpCaller } from '../support/api/http-caller.ts';
import { createWorld } from '../support/world.ts';
import { forEachItem, openAttack, type Attack } from './attack.ts';
import { hostileAddress } from './canaries.ts';
import { count } from './counted.ts';
import { redirects } from './vectors/redirects.ts';
import { webhookUrlVectors } from './vectors/urls.ts';
import { fillIn } from './vectors/vector.ts';

let attack: Attack;
let sender: HttpSender;
beforeAll(async () => {
  attack = await openAttack();
  sender = createHttpSender({ http: attack.http, version: '1', timeoutSeconds: 3, elapsedMs: () => 0 });
});
afterAll(() => attack.close());

const send = (url: string) => sender.send({ url, headers: {}, body: '{}' });

describe('webhook URLs with internal addresses', () => {
  test.for(Object.entries(webhookUrlVectors))(
    'the sender rejects a webhook URL with an internal address: %s',
    async ([name, vectors], test) => {
      const { canaries, server } = attack;
      const wrong: string[] = [];
      await forEachItem(vectors, async (vector) => {
        const result = await send(fillIn(vector, { ...canaries, self: server.self, base: '' }));
        if (result.status !== null || !/not allowed|reserved/.test(result.error ?? ''))
          wrong.push(`${vector}: ${result.status} ${result.error}`);
      });
      expect(wrong).toEqual([]);
      expect(canaries.touched()).toEqual([]);
      count(test, { vectors: { [`webhooks: ${name}`]: vectors.length }, touched: canaries.touched().length });
    },
  );

  test('a job with such a webhook URL is rejected, unless only its name reveals the address', async () => {
    const { canaries, server, guard } = attack;
    const world = createWorld({ jobsPerCaller: 10_000 });
    world.c.urls = guard;
    world.c.webhookUrls = guard;
    world.c.calls = createCallLimiter({ perMinute: 0, atOnce: 0, now: world.c.now });
    const call = await createHttpCaller(world);
    const accepted: string[] = [];
    const stream = { stream_url: 'https://hostile.example/live.m3u8', condition: 'a ship' };
    for (const vector of Object.values(webhookUrlVectors).flat()) {
      const url = fillIn(vector, { ...canaries, self: server.self, base: '' });
      const reply = await call('POST', '/live-monitor', { ...stream, webhook_url: url });
      if (reply.status < 300) accepted.push(vector);
      else expect([vector, reply.status, reply.body.error?.code]).toEqual([vector, 400, 'INVALID_URL']);
    }
    // The host of two of them is example.com, and the third is a name, which the sender refuses for its address.
    expect(accepted).toEqual([
      'http://127.0.0.1:{port}%5c@example.com:1/',
      'http://127.0.0.1:{port};@example.com/',
      'http://127.0.0.1e0:{port}/',
    ]);
  });
});

describe('a receiver of webhooks', () => {
  test('a redirect of a receiver reaches no internal address', async (test) => {
    const { canaries, server } = attack;
    const wrong: string[] = [];
    await forEachItem(redirects, async (site) => {
      const result = await send(server.host(site));
      if (result.error !== null && result.status !== null) wrong.push(site.name);
    });
    expect(wrong).toEqual([]);
    expect(canaries.touched()).toEqual([]);
    count(test, { vectors: { 'webhooks: redirects': redirects.length }, touched: canaries.touched().length });
  });

  test('a redirect of a receiver is not followed, even to an allowed address', async () => {
    const asked: string[] = [];
    const receiver = createServer((request, response) => {
      asked.push(request.url ?? '');
      response.writeHead(307, { location: '/elsewhere' }).end();
    });
    receiver.listen(0, hostileAddress);
    await once(receiver, 'listening');
    const address = receiver.address();
    const port = typeof address === 'object' ? address?.port : 0;
    expect(await send(`http://${hostileAddress}:${port}/hook`)).toMatchObject({ status: 307 });
    expect(asked).toEqual(['/hook']);
    receiver.close();
    receiver.closeAllConnections();
  });
});
