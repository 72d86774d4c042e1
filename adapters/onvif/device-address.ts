import { readHost } from '../egress/host.ts';

/** Path at which each ONVIF device has its first service. */
const devicePath = '/onvif/device_service';

/** Maximum length of an address: that of a stream URL. */
const maxLength = 500;

/** Returns the URL of the device service for an address: a host, a host with a port, or a URL. */
export function toDeviceUrl(address: string): string {
  const text = address.trim();
  if (text.includes('://')) return text;
  const isIpv6 = !text.startsWith('[') && (text.match(/:/g)?.length ?? 0) > 1;
  return `http://${isIpv6 ? `[${text}]` : text}${text.includes('/') ? '' : devicePath}`;
}

/** Returns true for the path that ONVIF gives to the first service of every device. */
export function isDevicePath({ pathname, search }: URL): boolean {
  return pathname === devicePath && search === '';
}

/** Returns the shortest address that `toDeviceUrl` turns into this URL. */
export function toShortAddress(url: URL): string {
  return isDevicePath(url) ? url.host : url.href;
}

export function isOwnHost(hostname: string, ip: string): boolean {
  const host = readHost(hostname);
  return host.kind === 'literal' && host.addresses.some(({ address }) => address === ip);
}

export function toUrlHost(ip: string): string {
  return ip.includes(':') ? `[${ip}]` : ip;
}

/**
 * Returns the URL of a service that a device states, on the host that the user chose: a device sends no request to
 * another one. The stated port counts if the host is its own.
 */
export function toServiceUrl(stated: string, device: URL): URL {
  const address = URL.parse(stated);
  const service = new URL(device);
  if (address === null || !['http:', 'https:'].includes(address.protocol)) return service;
  if (address.protocol === 'http:' && isOwnHost(address.hostname, bare(device.hostname)))
    service.port = address.port;
  service.pathname = address.pathname;
  service.search = address.search;
  return service;
}

/**
 * Returns the address of a stream or picture that a device states: on its own host, without credentials. Null for other
 * schemes.
 */
export function toMediaUrl(
  stated: string | undefined,
  device: URL,
  schemes: readonly string[],
): string | null {
  const text = stated?.replaceAll('&amp;', '&') ?? '';
  const url = text.startsWith('/') ? URL.parse(text, device.href) : URL.parse(text);
  if (url === null || !schemes.includes(url.protocol.slice(0, -1)) || url.host === '') return null;
  url.username = '';
  url.password = '';
  url.hash = '';
  url.hostname = device.hostname;
  return url.href.length <= maxLength ? url.href : null;
}

function bare(hostname: string): string {
  return hostname.replace(/^\[|\]$/g, '');
}
