import { lookup as dnsLookup } from 'node:dns/promises';
import { InvalidUrlError } from '../../core/errors.ts';
import { createAddressRule, type Address, type AddressRule } from './address-rule.ts';
import { EgressRefusedError, EgressUnresolvedError } from './errors.ts';
import { readHost } from './host.ts';

export type { Address } from './address-rule.ts';

export type EgressGuard = {
  /**
   * The addresses of a host name or IP literal (any notation), every one of them allowed. Throws `EgressRefusedError` if the
   * literal or ANY resolved address is not allowed, `EgressUnresolvedError` when DNS has no answer.
   * Connect to what it returns, never to the name again: that is what defeats DNS rebinding.
   */
  resolve(host: string): Promise<Address[]>;
  /**
   * Checks scheme (`'https'`, without colon), syntax and literals without DNS. Throws `InvalidUrlError` with a remediation.
   * The URL that it returns still carries its credentials.
   */
  check(url: string, schemes: readonly string[]): URL;
};

export type EgressGuardOptions = {
  /** CIDRs opened beside the public addresses. See `createAddressRule` for what no range opens. */
  allowRanges: readonly string[];
  /** The setting that an operator opens them with, named in refusals. Default that of streams. */
  setting?: string;
  /** All addresses of a name; the operating system's resolver by default. */
  lookup?: (host: string) => Promise<Address[]>;
};

export function createEgressGuard(options: EgressGuardOptions): EgressGuard {
  const isAllowed = createAddressRule(options.allowRanges);
  const lookup = options.lookup ?? lookupAll;
  return {
    resolve: (host) => resolve(host, isAllowed, lookup),
    check: (url, schemes) => check(url, schemes, isAllowed, options.setting ?? 'WATCHPOST_ALLOW_RANGES'),
  };
}

/** The guard of what is posted rather than watched: its ranges are its own. */
export function createWebhookGuard(allowRanges: readonly string[]): EgressGuard {
  return createEgressGuard({ allowRanges, setting: 'WATCHPOST_ALLOW_WEBHOOK_RANGES' });
}

async function resolve(
  host: string,
  isAllowed: AddressRule,
  lookup: (host: string) => Promise<Address[]>,
): Promise<Address[]> {
  const read = readHost(host);
  if (read.kind === 'malformed') throw new EgressRefusedError('Host name is malformed');
  if (read.kind === 'name' && isMetadataName(read.name)) throw refused();
  const addresses = read.kind === 'literal' ? read.addresses : await answers(lookup, read.name);
  // One forbidden address spoils the name: which of them a client would take is the attacker's to choose.
  // `localhost` is the exception, as 127.0.0.1 may be allowed without ::1.
  const allowed = addresses.filter(({ address }) => isAllowed(address));
  const complete = read.kind === 'literal' ? allowed.length > 0 : allowed.length === addresses.length;
  if (!complete) throw refused();
  return allowed;
}

async function answers(lookup: (host: string) => Promise<Address[]>, name: string): Promise<Address[]> {
  const addresses = await lookup(name).catch((cause: unknown) => {
    throw new EgressUnresolvedError('Host name cannot be resolved', { cause });
  });
  if (addresses.length === 0) throw new EgressUnresolvedError('Host name has no address');
  return addresses;
}

async function lookupAll(host: string): Promise<Address[]> {
  const found = await dnsLookup(host, { all: true });
  return found.map(({ address, family }) => ({ address, family: family === 6 ? 6 : 4 }));
}

function check(text: string, schemes: readonly string[], isAllowed: AddressRule, setting: string): URL {
  const url = hasControlCharacter(text) || !isSpelledOut(text) ? null : URL.parse(text);
  if (url === null)
    throw new InvalidUrlError(`Give a complete URL with one of these schemes: ${list(schemes)}.`);
  if (!schemes.includes(url.protocol.slice(0, -1))) {
    throw new InvalidUrlError(`Use one of these schemes: ${list(schemes)}.`);
  }
  const host = readHost(url.hostname);
  if (host.kind === 'malformed') {
    throw new InvalidUrlError(
      'Give a host name of letters, digits and hyphens (an international name in its xn-- form), or an IP address.',
    );
  }
  const forbidden =
    host.kind === 'name'
      ? isMetadataName(host.name)
      : !host.addresses.some(({ address }) => isAllowed(address));
  if (forbidden) throw new InvalidUrlError(notAllowed(setting));
  return url;
}

function notAllowed(setting: string): string {
  return `The host is a private, local or reserved address. Use a public one, or have the operator open its range (${setting}).`;
}

function refused(): EgressRefusedError {
  return new EgressRefusedError('Host is a private, local or reserved address');
}

/** WHATWG URL drops tabs and line breaks inside of a URL; who reads the text by other rules sees another host. */
function hasControlCharacter(text: string): boolean {
  // oxlint-disable-next-line no-control-regex
  return /[\u0000-\u0020\u007f]/.test(text);
}

/** WHATWG URL also reads `http:host`, `http:/host` and backslashes; other readers of the text see something else in it. */
function isSpelledOut(text: string): boolean {
  return !/^(https?|rtsp):(?!\/\/)/i.test(text) && !text.includes('\\');
}

function isMetadataName(name: string): boolean {
  return (
    name === 'metadata.google.internal' || name === 'metadata.goog' || name === 'instance-data.ec2.internal'
  );
}

function list(schemes: readonly string[]): string {
  return schemes.map((scheme) => `${scheme}://`).join(', ');
}
