import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { Resolver } from 'node:dns/promises';
import { expect, test } from 'vitest';
import { createLookup } from '../../../adapters/aws/lookup.ts';

const absent = async (): Promise<string[]> => {
  throw Object.assign(new Error('No such name'), { code: 'ENOTFOUND' });
};

test('a name has its addresses of both families, and fails if it has none of either', async () => {
  const both = createLookup({ resolve4: async () => ['192.0.2.1'], resolve6: async () => ['2001:db8::1'] });
  expect(await both('both.example')).toEqual([
    { address: '192.0.2.1', family: 4 },
    { address: '2001:db8::1', family: 6 },
  ]);
  const six = createLookup({ resolve4: absent, resolve6: async () => ['2001:db8::1'] });
  expect(await six('six.example')).toEqual([{ address: '2001:db8::1', family: 6 }]);
  await expect(createLookup({ resolve4: absent, resolve6: absent })('none.example')).rejects.toThrow(
    'No such name',
  );
});

test('silent names are given up and hold no thread, on which the next invocation would wait', async () => {
  const silent = createSocket('udp4').bind(0, '127.0.0.1');
  await once(silent, 'listening');
  const resolver = new Resolver({ timeout: 100, tries: 1 });
  resolver.setServers([`127.0.0.1:${silent.address().port}`]);
  const lookups = Array.from({ length: 20 }, (_, name) => createLookup(resolver)(`silent-${name}.example`));
  expect(process.getActiveResourcesInfo()).not.toContain('GetAddrInfoReqWrap');
  for (const answer of await Promise.allSettled(lookups))
    expect(answer).toMatchObject({ status: 'rejected', reason: { code: 'ETIMEOUT' } });
  silent.close();
});
