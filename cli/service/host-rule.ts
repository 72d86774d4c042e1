import { isIP } from 'node:net';
import { toHostname, isLoopback, type AcceptsHost } from '../../adapters/http/guard-host.ts';
import type { Settings } from '../settings.ts';

/**
 * Returns a function that accepts the hosts of the embedded service: loopback names, the listening address, the hosts
 * of the settings and, unless the service listens on loopback only, every IP address. DNS cannot redirect an IP
 * address, and a router or container host may map an unknown one to this machine.
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
