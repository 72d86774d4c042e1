import { networkInterfaces } from 'node:os';
import type { Address } from './address-rule.ts';
import { readHost } from './host.ts';

/** This service: its port on this machine, the host and port of its public URL, and the addresses of the machine. */
export type OwnService = { port: number; publicUrl: string; isOwnAddress: (address: string) => boolean };

export function isOwnAddress(address: string): boolean {
  return Object.values(networkInterfaces()).some((found) => found?.some((each) => each.address === address));
}

/** Returns true for a URL of the service, as far as it shows without DNS. */
export function isOwnUrl(own: OwnService, url: URL): boolean {
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
export function leadsToService(
  { port: ownPort, publicUrl, isOwnAddress: isOwn }: OwnService,
  target: Target,
): boolean {
  const { host, port, addresses, isOpen } = target;
  const ofService = URL.parse(publicUrl);
  const isPublicHost = ofService !== null && readName(ofService.hostname) === readName(host);
  if (isPublicHost && (!isOpen || port === ownPort || port === readPort(ofService))) return true;
  return port === ownPort && addresses.some(({ address }) => isLoopback(address) || isOwn(address));
}

export function isOneOf(names: readonly string[], host: string): boolean {
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
