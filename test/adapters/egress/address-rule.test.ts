import { describe, expect, test } from 'vitest';
import { createAddressRule, listAddresses } from '../../../adapters/egress/address-rule.ts';

test('a rule of ranges only allows no public address without a range, and no reserved address with one', () => {
  const isAllowed = createAddressRule(['192.168.1.0/24', '9.9.9.9', '169.254.0.0/16'], [], {
    onlyRanges: true,
  });
  expect(['192.168.1.20', '9.9.9.9', '169.254.1.1'].filter(isAllowed)).toHaveLength(3);
  expect(
    ['8.8.8.8', '2a00::1', '192.168.2.1', '169.254.169.254', '239.255.255.250'].filter(isAllowed),
  ).toEqual([]);
});

test('an address of NAT64 is allowed if that behind it is public, of another machine, and not denied', () => {
  const isAllowed = createAddressRule(['::/0', '0.0.0.0/0'], ['1.1.1.0/24'], {
    isOwn: (address) => address === '9.9.9.9',
  });
  const behind = ['8.8.8.8', '9.9.9.9', '1.1.1.1', '10.0.0.1', '127.0.0.1', '169.254.169.254', '0.0.0.0'];
  expect(behind.filter((address) => isAllowed(`64:ff9b::${address}`))).toEqual(['8.8.8.8']);
  expect(createAddressRule(['8.8.8.8'], [], { onlyRanges: true })('64:ff9b::8.8.8.8')).toBe(false);
});

describe('addresses of ranges', () => {
  test('the hosts of ranges are listed once, without the addresses of the network', () => {
    expect(listAddresses(['192.168.1.5/29', '192.168.1.6', '10.0.0.0/31'], 512)).toEqual([
      ...[1, 2, 3, 4, 5, 6].map((host) => `192.168.1.${host}`),
      '10.0.0.0',
      '10.0.0.1',
    ]);
    expect(listAddresses(['255.255.255.0/24'], 512).at(-1)).toBe('255.255.255.254');
  });

  test('ranges that do not fit and those of IPv6 are left out', () => {
    expect(listAddresses(['10.0.0.0/8', '0.0.0.0/0', 'fd00::/64', '192.168.1.1'], 512)).toEqual([
      '192.168.1.1',
    ]);
    expect(listAddresses(['10.0.0.0/23', '10.0.2.0/24'], 512)).toHaveLength(510);
  });
});
