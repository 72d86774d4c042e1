import { isIP } from 'node:net';
import type { Address } from './address-rule.ts';

/** Host of a URL, classified without DNS. `localhost` and its subdomains are addresses (RFC 6761). */
export type Host =
  | { kind: 'literal'; addresses: Address[] }
  | { kind: 'name'; name: string }
  | { kind: 'malformed' };

/**
 * Parses a host like any resolver might: decimal, hexadecimal, octal and short literals become plain addresses,
 * also for schemes that WHATWG URL leaves unchanged (`rtsp:`). Percent-encoded and non-ASCII hosts, zone ids and
 * empty labels are malformed.
 */
export function readHost(host: string): Host {
  const name = canonicalName(host);
  if (name === null) return { kind: 'malformed' };
  const family = isIP(name);
  if (family === 4 || family === 6) return { kind: 'literal', addresses: [{ address: name, family }] };
  if (isLocalhost(name)) return { kind: 'literal', addresses: loopback };
  return { kind: 'name', name };
}

const loopback: Address[] = [
  { address: '127.0.0.1', family: 4 },
  { address: '::1', family: 6 },
];

function canonicalName(host: string): string | null {
  const bracketed = host.startsWith('[') && host.endsWith(']');
  const bare = bracketed ? host.slice(1, -1) : host;
  if (!/^[\w.:-]+$/.test(bare) || bare.length > 254 || (bracketed && !bare.includes(':'))) return null;
  const parsed = parseAsHttp(bare.includes(':') ? `[${bare}]` : bare);
  if (parsed === null) return null;
  const name = parsed.replace(/^\[|\]$|\.$/g, '');
  return name.split('.').includes('') || name.length > 253 ? null : name;
}

/** Normalizes every IPv4 notation with the http rules of WHATWG URL. Returns null for values out of range. */
function parseAsHttp(host: string): string | null {
  return URL.parse(`http://${host}/`)?.hostname ?? null;
}

function isLocalhost(name: string): boolean {
  const labels = name.split('.');
  return labels.at(-1) === 'localhost' || hostsFileNames.has(name);
}

/** Names of loopback in common hosts files. */
const hostsFileNames = new Set(['localhost.localdomain', 'localhost6', 'ip6-localhost', 'ip6-loopback']);
