import { networkInterfaces } from 'node:os';
import { randomBytes, randomUUID } from 'node:crypto';
import { InvalidUrlError } from '../../core/errors.ts';
import type { Cameras, CameraLogin, CameraStreams, Discovery } from '../../core/ports/cameras.ts';
import type { Camera } from '../../core/records/camera.ts';
import { setSystemTimer, type SetTimer } from '../../core/time-limit.ts';
import { createAddressRule, listAddresses } from '../egress/address-rule.ts';
import { EgressRefusedError } from '../egress/errors.ts';
import { createEgressGuard, type EgressGuard, type EgressGuardOptions } from '../egress/guard.ts';
import { createGuardedHttp, type GuardedHttp } from '../egress/guarded-http.ts';
import { askByDatagram } from '../egress/guarded-udp.ts';
import { isDevicePath, toDeviceUrl, toUrlHost } from './device-address.ts';
import { createDeviceCalls } from './device-calls.ts';
import { toCameraError } from './errors.ts';
import { readProfiles } from './media-profiles.ts';
import { createProbe, probedTypes, readProbeMatches } from './probe-match.ts';
import { readClockOffset } from './read-clock.ts';

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
  const found = new Map<string, Map<string, Camera>>();
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
      const ofHost = found.get(sender) ?? new Map<string, Camera>();
      for (const camera of readProbeMatches(text, sender))
        if (ofHost.size < maxCamerasOfHost) ofHost.set(camera.address, camera);
      found.set(sender, ofHost);
    },
    onOutside: (sender) => {
      if (outside.size < maxOutside) outside.add(sender);
    },
  });
  const cameras = [...found.values()].flatMap((ofHost) => [...ofHost.values()]).slice(0, maxCameras);
  return {
    cameras: cameras.toSorted((a, b) => collator.compare(a.address, b.address)),
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

/** Requires that the device itself states this URL in a discovery: nobody may send a request to any path of the allowed ranges. */
async function requireStated(device: URL, deps: OnvifDeps, signal: AbortSignal): Promise<void> {
  const { cameras } = await discover(deps, signal);
  if (cameras.some((camera) => toDeviceUrl(camera.address) === device.href)) return;
  throw new InvalidUrlError(
    'address: No camera states this path. Use the address that the discovery lists, or host and port alone.',
  );
}

/** Returns the URL of the device that the user chose, with its IP address: its name cannot lead to another host later. */
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
