import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Address } from '../../adapters/egress/guard.ts';
import { createHttpSender } from '../../adapters/destinations/http-sender.ts';
import { forEachItem, openAttack, type Attack } from './attack.ts';
import { hostileAddress } from './canaries.ts';
import { count } from './counted.ts';
import { nameVectors } from './vectors/names.ts';

/** Each vector has its own name; the number of DNS requests for it selects the response. */
const asked = new Map<string, number>();
let attack: Attack;
beforeAll(async () => {
  attack = await openAttack({ lookup });
});
afterAll(() => attack.close());

async function lookup(host: string): Promise<Address[]> {
  const vector = nameVectors[Number(/^n(\d+)\./.exec(host)?.[1])];
  if (vector === undefined) throw new Error('ENOTFOUND');
  const times = asked.get(host) ?? 0;
  asked.set(host, times + 1);
  const answer = vector.answers[Math.min(times, vector.answers.length - 1)] ?? [];
  return answer.map((address) => ({
    address: address === '{good}' ? hostileAddress : address,
    family: address.includes(':') ? 6 : 4,
  }));
}

const site = {
  name: 'by its name',
  entry: 'live.m3u8',
  files: {
    'live.m3u8': '#EXTM3U\n#EXT-X-STREAM-INF:BANDWIDTH=1\nvariant.m3u8',
    'variant.m3u8':
      '#EXTM3U\n#EXT-X-TARGETDURATION:2\n#EXT-X-KEY:METHOD=AES-128,URI="key"\n#EXTINF:2,\nok.ts\n#EXTINF:2,\nno-picture.ts',
  },
};

test('a name never leads to an internal address, regardless of the DNS responses', async (test) => {
  const { canaries, server, http } = attack;
  const url = new URL(server.host(site));
  const sender = createHttpSender({ http, version: '1', timeoutSeconds: 3, elapsedMs: () => 0 });
  const wrong: string[] = [];
  await forEachItem([...nameVectors.entries()], async ([at, { name }]) => {
    const before = canaries.touched().length;
    const named = (scheme: string, sub: string): string =>
      `${scheme}://n${at}.${sub}.example:${url.port}${url.pathname}`;
    const outcomes = [
      await attack.run(named('http', 'hls')),
      await attack.run(named('rtsp', 'camera')),
      await sender.send({ url: named('http', 'hook'), headers: {}, body: '{}' }),
      await sender.send({ url: named('https', 'hook'), headers: {}, body: '{}' }),
    ];
    const unexpected = /unexpected[^"]*/.exec(JSON.stringify(outcomes)) ?? [];
    wrong.push(...[...canaries.touched().slice(before), ...unexpected].map((what) => `${name}: ${what}`));
  });
  expect(wrong).toEqual([]);
  count(test, {
    vectors: { 'answers of DNS': nameVectors.length },
    touched: canaries.touched().length,
  });
});

test('a name is resolved again for each connection', () => {
  const changed = nameVectors.findIndex(({ name }) => name.startsWith('that changes to 127.0.0.1'));
  expect(asked.get(`n${changed}.hls.example`)).toBeGreaterThan(2);
});
