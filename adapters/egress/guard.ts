import { lookup as dnsLookup } from 'node:dns/promises';
import { InvalidUrlError } from '../../core/errors.ts';
import { createAddressRule, type Address, type AddressRule } from './address-rule.ts';
import { EgressRefusedError, EgressUnresolvedError } from './errors.ts';
import { readHost } from './host.ts';
import { networkInterfaces } from 'node:os';

export type { Address } from './address-rule.ts';

/** Guard that all outgoing connections pass. */
export type EgressGuard = {
  /**
   * Returns the addresses of a host name or IP literal (any notation), all of them allowed. Throws `EgressRefusedError`
   * if the literal or ANY resolved address is not allowed, `EgressUnresolvedError` if DNS has none. Refuses this
   * service itself at `port`. Connect to the returned addresses, never to the name: that prevents DNS rebinding.
   */
  resolve(host: string, port?: number): Promise<Address[]>;
  /**
   * Checks scheme (`'https'`, without colon), syntax and literals without DNS. Throws `InvalidUrlError` with a
   * remediation, which names `field` or else the field of the options. The returned URL still contains its credentials.
   */
  check(url: string, schemes: readonly string[], field?: string): URL;
  /** Name of the setting that opens further ranges. */
  setting: string;
};

export type EgressGuardOptions = {
  /** CIDRs allowed in addition to public addresses. `createAddressRule` lists exceptions. */
  allowRanges: readonly string[];
  /** Allows no public address without a range. */
  onlyRanges?: boolean;
  /** CIDRs that no range opens: the network of this service. Default: none. */
  denyRanges?: readonly string[];
  /** Field of the request that has the URL, for error messages. Default: `stream_url`. */
  field?: string;
  /** This service, which no URL may lead to. Default: unknown. */
  own?: OwnService;
  /** Host names of this service, refused on every port. Default: none. */
  ownHosts?: readonly string[];
  /** Name of the setting that allows them, for error messages. Default: that of streams on one machine. */
  setting?: string;
  /** Resolves a name to all of its addresses. Default: the resolver of the operating system. */
  lookup?: (host: string) => Promise<Address[]>;
};

/** Creates an egress guard. Throws `RangeError` for an invalid CIDR. */
export function createEgressGuard(options: EgressGuardOptions): EgressGuard {
  const { own } = options;
  const isAllowed = createAddressRule(options.allowRanges, options.denyRanges, {
    ...options,
    ...(own && { isOwn: own.isOwnAddress }),
  });
  const isOpened = createAddressRule(options.allowRanges, options.denyRanges, { onlyRanges: true });
  const { lookup = lookupAll, setting = 'WATCHPOST_ALLOW_RANGES', field: usual = 'stream_url' } = options;
  const { onlyRanges = false, ownHosts = [] } = options;
  return {
    setting,
    resolve: async (host, port) => {
      if (isOneOf(ownHosts, host)) throw refused(setting);
      const addresses = await resolve(host, isAllowed, { lookup, setting });
      const isOpen = addresses.every(({ address }) => isOpened(address));
      if (own && leadsToService(own, { host, port, addresses, isOpen })) throw refused(setting);
      return addresses;
    },
    check: (url, schemes, field = usual) => {
      const urlOrReason = check(url, schemes, isAllowed, { setting, onlyRanges });
      if (typeof urlOrReason === 'string') throw new InvalidUrlError(`${field}: ${urlOrReason}`);
      if ((own && isOwnUrl(own, urlOrReason)) || isOneOf(ownHosts, urlOrReason.hostname))
        throw new InvalidUrlError(`${field}: ${ownRemedy}`);
      return urlOrReason;
    },
  };
}

/** The guard of what is posted rather than watched: its ranges are its own. */
export function createWebhookGuard(
  allowRanges: readonly string[],
  setting = 'WATCHPOST_ALLOW_WEBHOOK_RANGES',
  more: Pick<EgressGuardOptions, 'denyRanges' | 'own' | 'ownHosts' | 'lookup'> = {},
): EgressGuard {
  return createEgressGuard({ ...more, allowRanges, field: 'webhook_url', setting });
}

const ownRemedy = 'The URL leads to this service itself. Use the address of another server.';

async function resolve(
  host: string,
  isAllowed: AddressRule,
  { lookup, setting }: { lookup: (host: string) => Promise<Address[]>; setting: string },
): Promise<Address[]> {
  const read = readHost(host);
  if (read.kind === 'malformed') throw new EgressRefusedError('Host name is malformed', { setting });
  if (read.kind === 'name' && isMetadataName(read.name)) throw refused(setting);
  const addresses = read.kind === 'literal' ? read.addresses : await lookUp(lookup, read.name);
  // One forbidden address rejects the name, because an attacker can choose which address a client uses. `localhost`
  // is the exception: 127.0.0.1 may be allowed without ::1.
  const allowed = addresses.filter(({ address }) => isAllowed(address));
  const complete = read.kind === 'literal' ? allowed.length > 0 : allowed.length === addresses.length;
  if (!complete) throw refused(setting);
  return allowed;
}

async function lookUp(lookup: (host: string) => Promise<Address[]>, name: string): Promise<Address[]> {
  const addresses = await lookup(name).catch((cause: unknown) => {
    throw new EgressUnresolvedError('Host name cannot be resolved', { cause });
  });
  if (addresses.length === 0) throw new EgressUnresolvedError('Host name has no address');
  return addresses;
}

async function lookupAll(host: string): Promise<Address[]> {
  const addresses = await dnsLookup(host, { all: true });
  return addresses.map(({ address, family }) => ({ address, family: family === 6 ? 6 : 4 }));
}

/** Returns the parsed URL, or the remediation for an unusable one. */
function check(
  text: string,
  schemes: readonly string[],
  isAllowed: AddressRule,
  opening: Opening,
): URL | string {
  const url = hasControlCharacter(text) || !isSpelledOut(text) ? null : URL.parse(text);
  if (url === null) return incomplete(text, schemes);
  if (!schemes.includes(url.protocol.slice(0, -1))) return otherScheme(url.protocol, schemes);
  const host = readHost(url.hostname);
  if (host.kind === 'malformed')
    return 'Use a host name of letters, digits and hyphens (an international name in its xn-- form), or an IP address.';
  if (host.kind === 'name') return isMetadataName(host.name) ? notAllowed(opening) : url;
  if (host.addresses.some(({ address }) => isAllowed(address))) return url;
  return notAllowed(opening, host.addresses[0]?.address);
}

/** The usual fault of a URL with a user is a password with `#`, `/` or `@`. */
function incomplete(text: string, schemes: readonly string[]): string {
  const [, port] = /^[a-z+]+:\/\/[\w.-]+:(\d+)(?:[/?]|$)/i.exec(text) ?? [];
  if (Number(port) > 65_535) return 'Use a port from 1 to 65535.';
  const encode = text.includes('@')
    ? 'Percent-encode special characters of user name and password, such as # as %23 and / as %2F. '
    : '';
  return `${encode}Use a complete URL with one of these schemes: ${list(schemes)}.`;
}

/** Setting that opens an address. Public addresses need it too with `onlyRanges`. */
type Opening = { setting: string; onlyRanges: boolean };

/** Names what cameras and servers of a scheme that is not read offer besides. */
function otherScheme(protocol: string, schemes: readonly string[]): string {
  const remedy = `Use one of these schemes: ${list(schemes)}.`;
  if (!schemes.includes('rtsp')) return remedy;
  if (/^rtsps?h:$/.test(protocol))
    return `RTSP through HTTP has the scheme rtsp+http:// or rtsp+https://. ${remedy}`;
  if (/^rtsp[tu]:$/.test(protocol))
    return `RTSP over UDP is not read. Use rtsp://, by which the stream is requested over TCP. ${remedy}`;
  if (!/^(rtmp[a-z]*|srt):$/.test(protocol)) return remedy;
  return `RTMP and SRT are not read. Use the HLS, RTSP or MPEG-TS address of the same server. ${remedy}`;
}

function notAllowed({ setting, onlyRanges }: Opening, address?: string): string {
  const range = address === undefined ? undefined : `${address}/${address.includes(':') ? 128 : 32}`;
  const canOpen = range !== undefined && createAddressRule([range])(address ?? '');
  if (canOpen && onlyRanges)
    return `The host is outside of the allowed ranges. Ask the operator to allow ${range} (${setting}).`;
  return canOpen
    ? `The host is a private, local or reserved address. Use a public one, or ask the operator to allow ${range} (${setting}).`
    : 'The host is a reserved address, which no setting opens. Use another one.';
}

function refused(setting: string): EgressRefusedError {
  return new EgressRefusedError('Host is a private, local or reserved address', { setting });
}

/** WHATWG URL drops tabs and line breaks inside a URL. Parsers with other rules then read another host. */
function hasControlCharacter(text: string): boolean {
  // oxlint-disable-next-line no-control-regex
  return /[\u0000-\u0020\u007f]/.test(text);
}

/** WHATWG URL accepts `http:host`, `http:/host` and backslashes, which other parsers read differently. */
function isSpelledOut(text: string): boolean {
  return !/^(https?|rtsps?|rtsp\+https?):(?!\/\/)/i.test(text) && !text.includes('\\');
}

function isMetadataName(name: string): boolean {
  return (
    name === 'metadata.google.internal' || name === 'metadata.goog' || name === 'instance-data.ec2.internal'
  );
}

function list(schemes: readonly string[]): string {
  return schemes.map((scheme) => `${scheme}://`).join(', ');
}

/** This service: its port on this machine, the host and port of its public URL, and the addresses of the machine. */
type OwnService = { port: number; publicUrl: string; isOwnAddress: (address: string) => boolean };

export function isOwnAddress(address: string): boolean {
  return Object.values(networkInterfaces())
    .flat()
    .some((each) => each?.address === address);
}

/** Returns true for a URL of the service, as far as it shows without DNS. */
function isOwnUrl(own: OwnService, url: URL): boolean {
  const host = readHost(url.hostname);
  const addresses = host.kind === 'literal' ? host.addresses : [];
  return leadsToService(own, { host: url.hostname, port: readPort(url), addresses, isOpen: true });
}

/** Connection to a host. `isOpen`: the operator has allowed the range of all its addresses. */
export type Target = {
  host: string;
  port: number | undefined;
  addresses: readonly Address[];
  isOpen: boolean;
};

/**
 * Returns true if a connection leads to the service, or to another port of its public host that nobody has opened: a
 * request from inside may be trusted there.
 */
function leadsToService(
  { port: ownPort, publicUrl, isOwnAddress: isOwn }: OwnService,
  target: Target,
): boolean {
  const { host, port, addresses, isOpen } = target;
  const ofService = URL.parse(publicUrl);
  const isPublicHost = ofService !== null && readName(ofService.hostname) === readName(host);
  if (isPublicHost && (!isOpen || port === ownPort || port === readPort(ofService))) return true;
  return port === ownPort && addresses.some(({ address }) => isLoopback(address) || isOwn(address));
}

function isOneOf(names: readonly string[], host: string): boolean {
  const read = readHost(host);
  return read.kind === 'name' && names.some((name) => readName(name) === read.name);
}

function readName(hostname: string): string {
  const host = readHost(hostname);
  return host.kind === 'name' ? host.name : hostname;
}

const defaultPorts = new Map([
  ['http:', 80],
  ['https:', 443],
  ['rtsp:', 554],
]);

function readPort({ port, protocol }: URL): number | undefined {
  return Number(port) || defaultPorts.get(protocol);
}

function isLoopback(address: string): boolean {
  return address.startsWith('127.') || address === '::1';
}
