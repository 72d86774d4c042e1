import type { ServerResponse } from 'node:http';
import { expect, test } from 'vitest';
import { createDestinations } from '../../../adapters/destinations/destination-sender.ts';
import { createHttpSender } from '../../../adapters/destinations/http-sender.ts';
import { createEgressGuard } from '../../../adapters/egress/guard.ts';
import { createGuardedHttp } from '../../../adapters/egress/guarded-http.ts';
import { startReceiver } from './receiver.ts';
import { notify } from './notifications.ts';

/** Sends an alert to a receiver. */
async function send(
  type: 'discord' | 'heartbeat' | 'ntfy' | 'pagerduty' | 'slack',
  answer: (response: ServerResponse) => void,
) {
  const { url, received } = await startReceiver((_, response) => answer(response));
  const http = createGuardedHttp(createEgressGuard({ allowRanges: ['127.0.0.1/32'] }));
  const sender = createHttpSender({ http, version: '1', elapsedMs: () => 0, timeoutSeconds: 1 });
  const signer = { sign: async () => ({}) };
  const destinations = createDestinations({ http: sender, signer: signer as never, now: () => new Date() });
  const address = {
    destination_id: 'd',
    type,
    url,
    ...(type === 'pagerduty' && { routing_key: 'k'.repeat(32) }),
  };
  const result = await destinations.send(address, notify('alert_opened'));
  await http.close();
  return { ...result, requests: received.length };
}

const json =
  (status: number, body: object, headers = {}) =>
  (response: ServerResponse) =>
    void response.writeHead(status, headers).end(JSON.stringify(body));

test('the wait that Discord states in the body is that of its answer, if no header has one', async () => {
  const limited = { message: 'You are being rate limited.', retry_after: 64.57, global: false };
  expect(await send('discord', json(429, limited))).toMatchObject({ outcome: 'retry', retryAfter: '64.57' });
  expect(await send('discord', json(429, { ...limited, retry_after: '64.57' }))).toMatchObject({
    retryAfter: '64.57',
  });
  expect(await send('discord', json(429, limited, { 'retry-after': '65' }))).toMatchObject({
    retryAfter: '65',
  });
});

test('an event that PagerDuty refuses behind a status of success is not delivered', async () => {
  const refusal = { status: 'invalid event', message: 'Event object is invalid', errors: ['Length of key'] };
  expect(await send('pagerduty', json(202, refusal))).toMatchObject({
    outcome: 'rejected',
    error: expect.stringContaining('Event object is invalid'),
  });
  const accepted = { status: 'success', message: 'Event processed', dedup_key: 'x' };
  expect(await send('pagerduty', json(202, accepted))).toMatchObject({ outcome: 'delivered', error: null });
});

const page = '\n<!DOCTYPE html><title>Sign in</title>';
test.each([
  ['discord', page],
  ['heartbeat', page],
  ['ntfy', page],
  ['pagerduty', page],
  ['slack', page],
  ['slack', `<!-- (c) -->${page}`],
  ['slack', '<?xml version="1.0"?>\n<html xmlns="http://www.w3.org/1999/xhtml"></html>'],
  ['slack', page + ' '.repeat(150_000)],
] as const)(
  'a request of %s that the page of a login has answered fails, and is not repeated',
  async (type, body) => {
    const result = await send(type, (response) => void response.writeHead(200).end(body));
    expect(result).toMatchObject({
      outcome: 'rejected',
      error: expect.stringContaining('a web page'),
      requests: 1,
    });
  },
);

test.each([
  ['an empty one', (response: ServerResponse) => void response.writeHead(202).end()],
  ['text', (response: ServerResponse) => void response.writeHead(202).end('ok')],
  [
    'one that is too large',
    (response: ServerResponse) => void response.writeHead(202).end('x'.repeat(200_000)),
  ],
  ['one without an end', (response: ServerResponse) => void response.writeHead(202).write('{')],
  [
    'a broken one',
    (response: ServerResponse) => {
      response.writeHead(202, { 'content-length': '99' }).write('{');
      setTimeout(() => response.destroy(), 20);
    },
  ],
])('an answer with %s as its body counts by its status, once', async (_kind, answer) => {
  expect(await send('pagerduty', answer)).toMatchObject({ outcome: 'delivered', status: 202, requests: 1 });
});
