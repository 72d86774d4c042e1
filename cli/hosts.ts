import { isIP } from 'node:net';
import { toHostname, isLoopback } from '../adapters/http/guard-host.ts';
import type { AcceptsHost } from '../adapters/http/guard-host.ts';
import type { Settings } from './settings.ts';

/**
 * Returns the rule for the hosts that the one-machine service answers to: loopback names, the address it listens on, those of the settings,
 * and, unless it listens on loopback alone, every IP address. An address is no name that somebody could point elsewhere, and which ones lead
 * to this machine may change, or be known only to the router or container host in front of it.
 */
export function createHostRule({ host, publicUrl, allowedHosts }: Settings): AcceptsHost {
  const bound = toHostname(`http://${isIP(host) === 6 ? `[${host}]` : host}`);
  const names = new Set([bound, toHostname(publicUrl), ...allowedHosts]);
  names.delete('');
  const acceptsAddresses = !isLoopback(bound);
  return (hostname) =>
    isLoopback(hostname) || names.has(hostname) || (acceptsAddresses && isAddress(hostname));
}

function isAddress(hostname: string): boolean {
  return isIP(hostname.replace(/^\[(.*)\]$/, '$1')) !== 0;
}
