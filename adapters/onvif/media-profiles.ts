import { StreamFetchError } from '../../core/errors.ts';
import type { CameraProfile } from '../../core/records/camera.ts';
import { toMediaUrl, toServiceUrl } from './device-address.ts';
import type { DeviceCalls } from './device-calls.ts';
import { OnvifFaultError } from './errors.ts';
import { toName } from './probe-match.ts';
import { childElements, escapeXml, findElement, findText, type XmlElement } from './xml.ts';

/** Profiles of a device, by its media services: version 2 describes H.265 too, version 1 is what older devices have. */

const deviceService = 'http://www.onvif.org/ver10/device/wsdl';
const media1 = 'http://www.onvif.org/ver10/media/wsdl';
const media2 = 'http://www.onvif.org/ver20/media/wsdl';

type MediaService = { namespace: typeof media1 | typeof media2; url: URL };

/** Maximum profiles of a device that are read: each takes two calls. */
const maxProfiles = 16;

/** Reads time, media services and profiles. Throws `StreamFetchError`. */
export async function readProfiles(calls: DeviceCalls, device: URL): Promise<CameraProfile[]> {
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
  const found = ([media2, media1] as const).flatMap((namespace) => {
    const stated = listed.find((service) => service.namespace === namespace)?.address;
    return stated === undefined ? [] : [{ namespace, url: toServiceUrl(stated, device) }];
  });
  const answered = found
    .filter(({ url }) => url.port !== device.port)
    .map(({ namespace, url }) => ({ namespace, url: withPort(url, device.port) }));
  return [...found, ...answered];
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
      stream_url: toMediaUrl(await readUri(calls, service, 'GetStreamUri', token), device, ['rtsp']),
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
    if (error instanceof OnvifFaultError) return undefined;
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
