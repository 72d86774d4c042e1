import { networkInterfaces } from 'node:os';
import { randomBytes, randomUUID } from 'node:crypto';
import { InvalidUrlError, StreamFetchError } from '../../core/errors.ts';
import type {
  Cameras,
  CameraLogin,
  CameraStreams,
  Discovery,
  Camera,
  CameraProfile,
} from '../../core/ports/cameras.ts';
import { setSystemTimer } from '../../core/time-limit.ts';
import type { SetTimer } from '../../core/time-limit.ts';
import { createAddressRule, listAddresses } from '../egress/address-rule.ts';
import { EgressRefusedError } from '../egress/errors.ts';
import { createEgressGuard, type EgressGuard, type EgressGuardOptions } from '../egress/guard.ts';
import { createGuardedHttp } from '../egress/guarded-http.ts';
import type { GuardedHttp } from '../egress/guarded-http.ts';
import { askByDatagram } from '../egress/guarded-udp.ts';
import { isDevicePath, toDeviceUrl, toUrlHost, toMediaUrl, toServiceUrl } from './device-address.ts';
import { createDeviceCalls } from './device-calls.ts';
import type { DeviceCalls } from './device-calls.ts';
import { toCameraError, OnvifFaultError } from './errors.ts';
import { createProbe, probedTypes, readProbeMatches, toName } from './probe-match.ts';
import { findElement, findText, childElements, escapeXml } from './xml.ts';
import type { XmlElement } from './xml.ts';

/** Profiles of a device, by its media services: version 2 describes H.265 too, version 1 is what older devices have. */

const deviceService = 'http://www.onvif.org/ver10/device/wsdl';
const media1 = 'http://www.onvif.org/ver10/media/wsdl';
const media2 = 'http://www.onvif.org/ver20/media/wsdl';

type MediaService = { namespace: typeof media1 | typeof media2; url: URL };

/** Maximum profiles of a device that are read: each takes two calls. */
const maxProfiles = 16;

/** Reads time, media services and profiles. Throws `StreamFetchError`. */
async function readProfiles(calls: DeviceCalls, device: URL): Promise<CameraProfile[]> {
  const services = await findMediaServices(calls, device);
  for (const [index, service] of services.entries()) {
    try {
      return await readServiceProfiles(calls, service, device);
    } catch (error) {
      // Some devices list version 2 without it, or a port that is closed from here.
      const isRefused = !(error instanceof StreamFetchError) || error.accessRefused;
      const isFault = error instanceof OnvifFaultError;
      if ((isRefused && !isFault) || index === services.length - 1) throw error;
    }
  }
  throw new OnvifFaultError();
}

/** Returns the media services in the order of preference. */
async function findMediaServices(calls: DeviceCalls, device: URL): Promise<MediaService[]> {
  const listed = await listServices(calls, device);
  const services = ([media2, media1] as const).flatMap((namespace) => {
    const stated = listed.find((service) => service.namespace === namespace)?.address;
    return stated === undefined ? [] : [{ namespace, url: toServiceUrl(stated, device) }];
  });
  const answered = services
    .filter(({ url }) => url.port !== device.port)
    .map(({ namespace, url }) => ({ namespace, url: withPort(url, device.port) }));
  return [...services, ...answered];
}

function withPort(url: URL, port: string): URL {
  const moved = new URL(url);
  moved.port = port;
  return moved;
}

async function listServices(calls: DeviceCalls, device: URL) {
  try {
    const content = '<IncludeCapability>false</IncludeCapability>';
    const services = await calls.call(device, { namespace: deviceService, name: 'GetServices', content });
    return childElements(services, 'Service').map((service) => ({
      namespace: findText(service, 'Namespace'),
      address: findText(service, 'XAddr'),
    }));
  } catch (error) {
    if (!(error instanceof OnvifFaultError)) throw error;
    const content = '<Category>Media</Category>';
    const all = await calls.call(device, { namespace: deviceService, name: 'GetCapabilities', content });
    return [{ namespace: media1, address: findText(all, 'Capabilities', 'Media', 'XAddr') }];
  }
}

async function readServiceProfiles(
  calls: DeviceCalls,
  service: MediaService,
  device: URL,
): Promise<CameraProfile[]> {
  const { namespace, url } = service;
  const content = namespace === media2 ? '<Type>VideoEncoder</Type>' : '';
  const response = await calls.call(url, { namespace, name: 'GetProfiles', content });
  const listed = childElements(response, 'Profiles')
    .filter((profile) => findEncoder(profile) !== undefined)
    .slice(0, maxProfiles);
  const profiles: CameraProfile[] = [];
  for (const profile of listed) {
    const token = escapeXml(profile.attributes['token'] ?? '');
    const encoder = findEncoder(profile);
    profiles.push({
      name: toName(findText(profile, 'Name') ?? '') ?? `Profile ${profiles.length + 1}`,
      codec: toName(findText(encoder, 'Encoding') ?? ''),
      width: toPixels(findText(encoder, 'Resolution', 'Width')),
      height: toPixels(findText(encoder, 'Resolution', 'Height')),
      stream_url: toMediaUrl(await readUri(calls, service, 'GetStreamUri', token), device, ['rtsp', 'rtsps']),
      snapshot_url: toMediaUrl(await readUri(calls, service, 'GetSnapshotUri', token), device, [
        'http',
        'https',
      ]),
    });
  }
  return profiles;
}

function findEncoder(profile: XmlElement): XmlElement | undefined {
  return (
    findElement(profile, 'VideoEncoderConfiguration') ??
    findElement(profile, 'Configurations', 'VideoEncoder')
  );
}

/** Returns an address of a profile; undefined if the device has none. `token` is escaped. */
async function readUri(
  calls: DeviceCalls,
  { namespace, url }: MediaService,
  name: 'GetStreamUri' | 'GetSnapshotUri',
  token: string,
): Promise<string | undefined> {
  const profile = `<ProfileToken>${token}</ProfileToken>`;
  try {
    const response = await calls.call(url, {
      namespace,
      name,
      content: name === 'GetStreamUri' ? `${transport[namespace]}${profile}` : profile,
    });
    return findText(response, 'Uri') ?? findText(response, 'MediaUri', 'Uri');
  } catch (error) {
    // A picture is an extra: whatever its request meets, the stream stands.
    const isExtra = name === 'GetSnapshotUri' && error instanceof StreamFetchError;
    if (isExtra || error instanceof OnvifFaultError) return undefined;
    throw error;
  }
}

/** RTP in the connection of RTSP, which is TCP. */
const transport = {
  [media1]:
    '<StreamSetup><Stream xmlns="http://www.onvif.org/ver10/schema">RTP-Unicast</Stream><Transport xmlns="http://www.onvif.org/ver10/schema"><Protocol>RTSP</Protocol></Transport></StreamSetup>',
  [media2]: '<Protocol>RTSP</Protocol>',
};

function toPixels(text: string | undefined): number | null {
  return text !== undefined && /^\d{1,5}$/.test(text) ? Number(text) : null;
}

/** Times that WS-Security can state, which is in years of four digits. */
const [earliestMs, latestMs] = [0, Date.UTC(9999)];

/**
 * Returns by how many seconds the clock of a device is ahead; null if it does not state a usable time. Some devices
 * state their local time only.
 */
async function readClockOffset(calls: DeviceCalls, device: URL, now: () => Date): Promise<number | null> {
  const response = await calls.tryUnsigned(device, {
    namespace: 'http://www.onvif.org/ver10/device/wsdl',
    name: 'GetSystemDateAndTime',
  });
  const times = response === null ? undefined : findElement(response, 'SystemDateAndTime');
  const time = findElement(times, 'UTCDateTime') ?? findElement(times, 'LocalDateTime');
  const [year, month, day, hour, minute, second] = [
    ['Date', 'Year'],
    ['Date', 'Month'],
    ['Date', 'Day'],
    ['Time', 'Hour'],
    ['Time', 'Minute'],
    ['Time', 'Second'],
  ].map((path) => Number(findText(time, ...path) ?? Number.NaN));
  const stated = Date.UTC(year ?? 0, (month ?? 0) - 1, day, hour, minute, second);
  const isUsable = stated >= earliestMs && stated < latestMs;
  return isUsable ? Math.round((stated - now().getTime()) / 1000) : null;
}

export type OnvifDeps = {
  /** Ranges of the cameras: none outside of them is asked, listed or read. This service is no camera. */
  egress: Pick<EgressGuardOptions, 'allowRanges' | 'own' | 'lookup'>;
  now: () => Date;
  setTimer?: SetTimer;
  /** Port of WS-Discovery. Default: 3702. */
  port?: number;
};

/** Group of WS-Discovery, which all cameras of a network hear. */
const group = '239.255.255.250';
/** Maximum addresses that are asked alone, for networks without multicast: containers, further subnets. */
const maxAskedAlone = 512;
/** Cameras answer within half a second (APP_MAX_DELAY) and what they need for it. */
const gapMs = 500;
const listenMs = 2_500;
const maxCameras = 1_000;
/** Maximum cameras of a host, such as the channels of a recorder. */
const maxCamerasOfHost = 64;
const maxOutside = 8;
const readTimeoutMs = 20_000;

/** Creates the discovery of cameras by ONVIF. `close` ends its connections. */
export function createOnvifCameras(deps: OnvifDeps): Cameras & { close(): Promise<void> } {
  const guard = createEgressGuard({ ...deps.egress, onlyRanges: true, field: 'address' });
  const http = createGuardedHttp(guard);
  return {
    discover: (signal) => discover(deps, signal),
    readStreams: (address, login, signal) => readStreams(address, login, signal, { ...deps, guard, http }),
    close: () => http.close(),
  };
}

async function discover(
  { egress: { allowRanges }, port = 3702, setTimer = setSystemTimer }: OnvifDeps,
  signal: AbortSignal,
): Promise<Discovery> {
  const isAllowed = createAddressRule(allowRanges, [], { onlyRanges: true });
  const networks = new Map<string, Map<string, Camera>>();
  const outside = new Set<string>();
  await askByDatagram({
    isAllowed,
    group,
    port,
    interfaces: ownAddresses()
      .filter(({ address, internal }) => !internal || isAllowed(address))
      .map(({ address }) => address),
    // A loopback range is too large to be asked, and has the simulators and bridges of this machine.
    hosts: [...new Set([...listAddresses(allowRanges, maxAskedAlone), '127.0.0.1'])],
    messages: probedTypes.map((type) => createProbe(randomUUID(), type)),
    gapMs,
    listenMs,
    setTimer,
    signal,
    onAnswer: (text, sender) => {
      const ofHost = networks.get(sender) ?? new Map<string, Camera>();
      for (const camera of readProbeMatches(text, sender))
        if (ofHost.size < maxCamerasOfHost) ofHost.set(camera.address, camera);
      networks.set(sender, ofHost);
    },
    onOutside: (sender) => {
      if (outside.size < maxOutside) outside.add(sender);
    },
  });
  const cameras = [...networks.values()].flatMap((ofHost) => [...ofHost.values()]).slice(0, maxCameras);
  return {
    cameras: cameras.toSorted((a, b) => collator.compare(a.address, b.address)),
    ranges: allowRanges,
    outside: [...outside],
  };
}

const collator = new Intl.Collator('en', { numeric: true });

/** Returns the IPv4 addresses of this machine. */
function ownAddresses() {
  return Object.values(networkInterfaces())
    .flatMap((addresses) => addresses ?? [])
    .filter(({ family }) => family === 'IPv4');
}

async function readStreams(
  address: string,
  login: CameraLogin | null,
  callerSignal: AbortSignal,
  deps: OnvifDeps & { guard: EgressGuard; http: GuardedHttp },
): Promise<CameraStreams> {
  const { guard, http, now } = deps;
  const signal = AbortSignal.any([callerSignal, AbortSignal.timeout(readTimeoutMs)]);
  const device = await findDevice(address, guard);
  if (!isDevicePath(device)) await requireStated(device, deps, signal);
  const calls = createDeviceCalls({ http, now, randomBytes }, login, signal);
  const clockOffsetSeconds = await readClockOffset(calls, device, now);
  if (clockOffsetSeconds !== null) calls.setClockOffset(clockOffsetSeconds);
  return { profiles: await readProfiles(calls, device), clockOffsetSeconds };
}

/**
 * Requires that the device itself states this URL in a discovery: nobody may send a request to any path of the allowed
 * ranges.
 */
async function requireStated(device: URL, deps: OnvifDeps, signal: AbortSignal): Promise<void> {
  const { cameras } = await discover(deps, signal);
  if (cameras.some((camera) => toDeviceUrl(camera.address) === device.href)) return;
  throw new InvalidUrlError(
    'address: No camera states this path. Use the address that the discovery lists, or host and port alone.',
  );
}

/**
 * Returns the URL of the device that the user chose, with its IP address: its name cannot lead to another host later.
 */
async function findDevice(address: string, guard: EgressGuard): Promise<URL> {
  const url = guard.check(toDeviceUrl(address), ['http']);
  if (url.username !== '' || url.password !== '')
    throw new InvalidUrlError(
      'address: Use the address alone. User name and password are fields of their own.',
    );
  const [resolved] = await guard.resolve(url.hostname).catch((error: unknown) => {
    if (error instanceof EgressRefusedError)
      throw new InvalidUrlError(`address: The host is outside of the allowed ranges (${guard.setting}).`);
    throw toCameraError(error);
  });
  if (resolved !== undefined) url.hostname = toUrlHost(resolved.address);
  return url;
}
