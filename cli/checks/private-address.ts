import { lookup } from 'node:dns/promises';
import { createAddressRule } from '../../adapters/egress/address-rule.ts';
import { readHost } from '../../adapters/egress/host.ts';
import { CommandError } from '../command-error.ts';

type Lookup = (host: string) => Promise<{ address: string }[]>;

/**
 * Throws `CommandError` with the ranges that would do, if the host of the URL has private addresses that the settings
 * do not allow. For the command line only: a caller of the API must not learn to which address a name resolves.
 */
export async function requireReachable(
  url: string,
  allowRanges: readonly string[],
  resolve: Lookup = (host) => lookup(host, { all: true }),
): Promise<void> {
  const host = URL.parse(url)?.hostname ?? '';
  const read = readHost(host);
  if (read.kind === 'malformed') return;
  const addresses = read.kind === 'literal' ? read.addresses : await resolve(read.name).catch(() => []);
  const isAllowed = createAddressRule(allowRanges);
  const closed = addresses.map(({ address }) => address).filter((address) => !isAllowed(address));
  // A literal is reachable by any of its addresses: localhost by 127.0.0.1 alone.
  if (closed.length === 0 || (read.kind === 'literal' && closed.length < addresses.length)) return;
  const ranges = (read.kind === 'literal' ? closed.slice(0, 1) : closed).map(toRange);
  if (!ranges.every((range) => createAddressRule([range])(range.split('/')[0] ?? '')))
    throw new CommandError(
      `${host} is a reserved address`,
      'Use another host: no setting opens this address.',
    );
  throw new CommandError(
    `${host} is a private, local or reserved address`,
    `Allow it with --allow-ranges ${[...allowRanges, ...ranges].join(',')}`,
  );
}

function toRange(address: string): string {
  return `${address}/${address.includes(':') ? 128 : 32}`;
}
