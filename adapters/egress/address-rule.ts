import ipaddr from 'ipaddr.js';

/** Resolved IP address. */
export type Address = { address: string; family: 4 | 6 };

/**
 * Returns true if the service may connect to this address. Returns false for text that is not a plain address, for
 * example with a zone id.
 */
export type AddressRule = (address: string) => boolean;

/**
 * Creates a rule that allows public addresses and those in `allowRanges` (CIDRs). No range opens the addresses of
 * `denyRanges`, `neverOpened` and `carriesIpv4`. An address of NAT64 is as public as that behind it. With `onlyRanges`,
 * public addresses need a range too, and those of `isOwn` always: this machine may offer itself what it offers nobody
 * else. Throws `RangeError` for an invalid CIDR.
 */
export function createAddressRule(
  allowRanges: readonly string[],
  denyRanges: readonly string[] = [],
  { onlyRanges = false, isOwn = () => false }: { onlyRanges?: boolean; isOwn?: AddressRule } = {},
): AddressRule {
  const opened = allowRanges.map(readRange);
  const closed = denyRanges.map(readRange);
  return (text) => {
    const address = readAddress(text);
    if (address === null) return false;
    const translated = readTranslated(address);
    return translated ? isAllowedPublic(translated) : isAllowedPublic(address) || isOpened(address);
  };

  function isAllowedPublic(address: Ip): boolean {
    return !onlyRanges && isPublic(address) && !isClosed(address) && !isOwn(address.toString());
  }

  function isOpened(address: Ip): boolean {
    return opened.some((range) => isWithin(address, range)) && !isClosed(address);
  }

  function isClosed(address: Ip): boolean {
    return isNeverOpened(address) || closed.some((range) => isWithin(address, range));
  }
}

/**
 * Returns the addresses of IPv4 ranges, at most `max`. Leaves out ranges that do not fit, and the first and last
 * address of a network, which are no host.
 */
export function listAddresses(ranges: readonly string[], max: number): string[] {
  const addresses = new Set<string>();
  for (const [start, length] of ranges.map(readRange)) {
    if (!(start instanceof ipaddr.IPv4)) continue;
    const size = 2 ** (32 - length);
    if (addresses.size + size > max) continue;
    const first = toNumber(start) - (toNumber(start) % size);
    const hosts =
      size > 2 ? { from: first + 1, to: first + size - 2 } : { from: first, to: first + size - 1 };
    for (let number = hosts.from; number <= hosts.to; number += 1) addresses.add(toDotted(number));
  }
  return [...addresses];
}

function toNumber({ octets }: ipaddr.IPv4): number {
  return octets.reduce((number, octet) => number * 256 + octet, 0);
}

function toDotted(number: number): string {
  return [24, 16, 8, 0].map((bits) => Math.floor(number / 2 ** bits) % 256).join('.');
}

type Ip = ipaddr.IPv4 | ipaddr.IPv6;
type Range = [Ip, number];

function readRange(text: string): Range {
  const cidr = text.trim();
  const full = cidr.includes('/') ? cidr : `${cidr}/${cidr.includes(':') ? 128 : 32}`;
  const strict = ipaddr.IPv4.isValidCIDRFourPartDecimal(full) || ipaddr.IPv6.isValidCIDR(full);
  if (!strict) throw new RangeError(`Invalid address range (CIDR): ${text}`);
  return ipaddr.parseCIDR(full);
}

function readAddress(text: string): Ip | null {
  if (ipaddr.IPv4.isValidFourPartDecimal(text)) return ipaddr.IPv4.parse(text);
  if (text.includes('%') || !ipaddr.IPv6.isValid(text)) return null;
  return ipaddr.IPv6.parse(text);
}

function isWithin(address: Ip, range: Range): boolean {
  return address.kind() === range[0].kind() && address.match(range);
}

function isPublic(address: Ip): boolean {
  // ipaddr.js reports all unknown addresses as unicast. For IPv6, only 2000::/3 is assigned as global unicast.
  return address.range() === 'unicast' && (address.kind() === 'ipv4' || isWithin(address, globalUnicast));
}

const globalUnicast = readRange('2000::/3');

function isNeverOpened(address: Ip): boolean {
  return neverOpened.some((range) => isWithin(address, range)) || carriesIpv4(address);
}

/** Addresses that return credentials to any local client, and addresses that are not a single host. */
const neverOpened = [
  '0.0.0.0/8', // "this host": Linux connects it to loopback
  '224.0.0.0/4',
  '255.255.255.255/32',
  '169.254.169.254/32', // instance metadata: AWS, Azure, Google, Oracle
  '169.254.170.2/32', // AWS: credentials of an ECS task
  '169.254.170.23/32', // AWS: credentials of an EKS pod
  '100.100.100.200/32', // Alibaba metadata
  '168.63.129.16/32', // Azure's wire server, a public address that only the inside reaches
  'fd00:ec2::/32', // AWS metadata and credentials over IPv6
  'fd20:ce::254/128', // Google metadata over IPv6
  '::/128',
  'ff00::/8',
].map(readRange);

const nat64 = readRange('64:ff9b::/96');

/**
 * Returns the IPv4 address of NAT64: in a network without IPv4, DNS64 returns it for all names that have no IPv6
 * address. Null for other addresses.
 */
function readTranslated(address: Ip): ipaddr.IPv4 | null {
  if (!(address instanceof ipaddr.IPv6) || !isWithin(address, nat64)) return null;
  return new ipaddr.IPv4(address.toByteArray().slice(-4));
}

/**
 * Returns true for IPv6 addresses that the operating system or a gateway translates to IPv4. They are always
 * rejected, because a range of one family must not open the other. No camera is published under such an address.
 */
function carriesIpv4(address: Ip): boolean {
  return (
    address instanceof ipaddr.IPv6 && (embeddings.some((r) => isWithin(address, r)) || isIsatap(address))
  );
}

const embeddings = [
  '::ffff:0:0/96', // mapped
  '::ffff:0:0:0/96', // translated (RFC 6145)
  '64:ff9b:1::/48', // NAT64, local use
  '2002::/16', // 6to4
  '2001::/32', // Teredo
].map(readRange);

/** Range ::a.b.c.d, deprecated. It contains loopback (::1), which a range may open. */
const compatible = readRange('::/96');
const loopback = readRange('::1/128');

function isIsatap(address: ipaddr.IPv6): boolean {
  const [, , , , flags, marker] = address.parts;
  const isatap = (flags === 0 || flags === 0x200) && marker === 0x5efe;
  return isatap || (isWithin(address, compatible) && !isWithin(address, loopback));
}
