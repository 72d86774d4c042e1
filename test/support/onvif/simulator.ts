import { createHash, randomUUID } from 'node:crypto';
import { createSocket } from 'node:dgram';
import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http';
import { setImmediate as immediate } from 'node:timers/promises';
import type { SetTimer } from '../../../core/time-limit.ts';

/**
 * Camera that speaks ONVIF on loopback: WS-Discovery over UDP, and device, media and media 2 services over HTTP with
 * their digests checked.
 */

export const login = { username: 'watcher', password: 'pa&ss <1>' };

export type SimulatorOptions = {
  /**
   * `open`: no user. `http`: HTTP digest. `token`: WS-Security. `vague`: the same for each operation, with a fault that
   * blames the sender without a reason. `basic`: asks for clear text. `forever`: a new nonce for each request.
   */
  access?: 'open' | 'http' | 'token' | 'vague' | 'basic' | 'forever';
  algorithm?: 'MD5' | 'SHA-256';
  versions?: readonly (1 | 2)[];
  /** False for devices that know GetCapabilities only. */
  listsServices?: boolean;
  /** Host that addresses state. Default: the own one. */
  statedHost?: string;
  /** Port that services state. Default: their own. */
  statedPort?: number;
  /** True to state the local time only. */
  statesLocalTime?: boolean;
  /** Seconds by which the clock is ahead. */
  clockOffsetSeconds?: number;
  /** Answers instead of the camera; returns false to leave a request to it. */
  answer?: (operation: string, response: ServerResponse) => boolean;
  /** Returns the bytes of a response with this body; undefined for the usual ones. */
  writes?: (body: string, operation: string) => string | undefined;
  /** Path of the device. Default: that of ONVIF. */
  path?: string;
  /** Address from which probes are answered. Default: 127.0.0.1. */
  answersFrom?: string;
  /** Datagrams instead of the answer to a probe. */
  datagrams?: (own: string) => readonly (string | Uint8Array)[];
};

type SeenRequest = { operation: string; path: string; headers: IncomingHttpHeaders; body: string };

const realm = 'simulated camera';
/** Turns of the event loop after which a datagram on loopback is read. */
const turnsOfDelivery = 20;

/** Creates timers that fire after an event and what was sent by then, instead of after a time. */
export function fireAfter(happens: () => Promise<void>): SetTimer {
  return (fire) => {
    let isCancelled = false;
    void (async () => {
      await happens();
      for (let turn = 0; turn < turnsOfDelivery; turn += 1) await immediate();
      if (!isCancelled) fire();
    })();
    return () => {
      isCancelled = true;
    };
  };
}

export async function startSimulator(options: SimulatorOptions = {}) {
  const { access = 'token', versions = [1, 2] } = options;
  const requests: SeenRequest[] = [];
  const nonces: string[] = [];
  const http = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const body = Buffer.concat(chunks).toString('utf8');
      const operation = /<s:Body[^>]*><(\w+)/.exec(body)?.[1] ?? '';
      const namespace = /<s:Body[^>]*><\w+ xmlns="([^"]*)"/.exec(body)?.[1] ?? '';
      requests.push({ operation, path: request.url ?? '', headers: request.headers, body });
      if (options.answer?.(operation, response) === true) return;
      const isPublic = ['GetSystemDateAndTime', 'GetServices', 'GetCapabilities'].includes(operation);
      const refusal =
        isPublic && access !== 'vague'
          ? null
          : refuse(access, { headers: request.headers, body }, options, nonces);
      if (refusal !== null) return refusal(response);
      const content = respond(operation, namespace, url(), { ...options, versions });
      const answer = content === null ? fault('ter:ActionNotSupported') : envelope(content);
      const own = options.writes?.(answer, operation);
      if (own !== undefined) return void response.socket?.end(own);
      response.writeHead(content === null ? 400 : 200, { 'content-type': 'application/soap+xml' });
      response.end(answer);
    });
  });
  await new Promise<void>((resolve) => void http.listen(0, '127.0.0.1', resolve));
  const httpAddress = http.address();
  const port = typeof httpAddress === 'object' && httpAddress !== null ? httpAddress.port : 0;
  const url = () =>
    `http://${options.statedHost ?? '127.0.0.1'}:${options.statedPort ?? port}${options.path ?? '/onvif/device_service'}`;

  const udp = createSocket('udp4');
  const answering = createSocket('udp4');
  answering.bind(0, options.answersFrom ?? '127.0.0.1');
  const probes: string[] = [];
  let probed = Promise.withResolvers<void>();
  let answered = Promise.resolve();
  udp.on('message', (bytes, { port: from, address }) => {
    const text = bytes.toString('utf8');
    probes.push(text);
    const id = /<a:MessageID>([^<]*)</.exec(text)?.[1] ?? '';
    const datagrams = options.datagrams?.(url()) ?? [probeMatches(id, [match(url())])];
    const before = answered;
    const answer = async () => {
      await before;
      for (const datagram of datagrams) {
        await new Promise((resolve) => answering.send(datagram, from, address, resolve));
        // The kernel keeps few of a burst.
        await immediate();
      }
    };
    answered = answer();
    probed.resolve();
  });
  /** Timer of a discovery that fires once the camera has answered a probe, instead of after a time. */
  const setTimer = fireAfter(async () => {
    await probed.promise;
    probed = Promise.withResolvers();
    await answered;
  });
  await new Promise<void>((resolve) => void udp.bind(0, '127.0.0.1', resolve));

  return {
    address: `127.0.0.1:${port}`,
    port,
    udpPort: udp.address().port,
    requests,
    probes,
    setTimer,
    close: async () => {
      udp.close();
      answering.close();
      http.closeAllConnections();
      await new Promise((resolve) => void http.close(resolve));
    },
  };
}

/** Returns the answer to a probe. */
export function probeMatches(relatesTo: string, matches: readonly string[]): string {
  return `<?xml version="1.0" encoding="UTF-8"?>
<SOAP-ENV:Envelope xmlns:SOAP-ENV="http://www.w3.org/2003/05/soap-envelope" xmlns:wsa="http://schemas.xmlsoap.org/ws/2004/08/addressing" xmlns:d="http://schemas.xmlsoap.org/ws/2005/04/discovery" xmlns:dn="http://www.onvif.org/ver10/network/wsdl">
<SOAP-ENV:Header><wsa:MessageID>urn:uuid:${randomUUID()}</wsa:MessageID><wsa:RelatesTo>${relatesTo}</wsa:RelatesTo>
<wsa:Action>http://schemas.xmlsoap.org/ws/2005/04/discovery/ProbeMatches</wsa:Action></SOAP-ENV:Header>
<SOAP-ENV:Body><d:ProbeMatches>${matches.join('\n')}</d:ProbeMatches></SOAP-ENV:Body></SOAP-ENV:Envelope>`;
}

export function match(
  xaddrs: string,
  { types = 'dn:NetworkVideoTransmitter', name = 'Yard%20camera', hardware = 'SIM-1' } = {},
): string {
  return `<d:ProbeMatch><wsa:EndpointReference><wsa:Address>urn:uuid:${randomUUID()}</wsa:Address></wsa:EndpointReference>
<d:Types>${types}</d:Types>
<d:Scopes>onvif://www.onvif.org/type/video_encoder onvif://www.onvif.org/name/${name} onvif://www.onvif.org/hardware/${hardware}</d:Scopes>
<d:XAddrs>${xaddrs}</d:XAddrs><d:MetadataVersion>1</d:MetadataVersion></d:ProbeMatch>`;
}

type Refusal = (response: ServerResponse) => void;

function refuse(
  access: SimulatorOptions['access'],
  request: { headers: IncomingHttpHeaders; body: string },
  options: SimulatorOptions,
  nonces: string[],
): Refusal | null {
  switch (access) {
    case 'open':
      return null;
    case 'token':
      return hasToken(request.body, options)
        ? null
        : (response) => void response.writeHead(400).end(fault('ter:NotAuthorized'));
    case 'vague':
      return hasToken(request.body, options) ? null : (response) => void response.writeHead(500).end(fault());
    case 'basic':
      return (response) =>
        void response.writeHead(401, { 'www-authenticate': `Basic realm="${realm}"` }).end();
    default:
      if (access === 'http' && hasDigest(request.headers.authorization, options, nonces)) return null;
      return (response) => {
        const nonce = randomUUID();
        nonces.push(nonce);
        const challenge = `Digest realm="${realm}", qop="auth", algorithm=${options.algorithm ?? 'MD5'}, nonce="${nonce}", stale=${access === 'forever'}`;
        response.writeHead(401, { 'www-authenticate': [challenge, `Basic realm="${realm}"`] }).end();
      };
  }
}

function hasDigest(
  header: string | undefined,
  { algorithm = 'MD5' }: SimulatorOptions,
  nonces: string[],
): boolean {
  const field = (name: string) => new RegExp(`(?:^|[ ,])${name}="?([^",]*)`).exec(header ?? '')?.[1] ?? '';
  const hash = (text: string) =>
    createHash(algorithm === 'MD5' ? 'md5' : 'sha256')
      .update(text)
      .digest('hex');
  const secret = hash(`${login.username}:${realm}:${login.password}`);
  const expected = hash(
    [secret, field('nonce'), field('nc'), field('cnonce'), 'auth', hash(`POST:${field('uri')}`)].join(':'),
  );
  return nonces.includes(field('nonce')) && field('response') === expected;
}

/** Checks the digest of WS-Security; devices accept requests of few seconds ago by their own clock. */
function hasToken(body: string, { clockOffsetSeconds = 0 }: SimulatorOptions): boolean {
  const text = (name: string) => new RegExp(`<${name}(?: [^>]*)?>([^<]*)<`).exec(body)?.[1] ?? '';
  const nonce = Buffer.from(text('Nonce'), 'base64');
  const expected = createHash('sha1')
    .update(nonce)
    .update(text('Created'))
    .update(login.password)
    .digest('base64');
  const ageMs = Date.now() + clockOffsetSeconds * 1000 - Date.parse(text('Created'));
  return text('Username') === login.username && text('Password') === expected && Math.abs(ageMs) < 60_000;
}

function envelope(content: string): string {
  return `<?xml version="1.0" encoding="UTF-8"?>
<env:Envelope xmlns:env="http://www.w3.org/2003/05/soap-envelope" xmlns:tt="http://www.onvif.org/ver10/schema" xmlns:tds="http://www.onvif.org/ver10/device/wsdl" xmlns:trt="http://www.onvif.org/ver10/media/wsdl" xmlns:tr2="http://www.onvif.org/ver20/media/wsdl" xmlns:ter="http://www.onvif.org/ver10/error"><env:Body>${content}</env:Body></env:Envelope>`;
}

function fault(subcode?: string): string {
  return envelope(
    `<env:Fault><env:Code><env:Value>env:Sender</env:Value>${subcode === undefined ? '' : `<env:Subcode><env:Value>${subcode}</env:Value></env:Subcode>`}</env:Code><env:Reason><env:Text xml:lang="en">refused</env:Text></env:Reason></env:Fault>`,
  );
}

const serviceVersions = {
  1: 'http://www.onvif.org/ver10/media/wsdl',
  2: 'http://www.onvif.org/ver20/media/wsdl',
};

function respond(
  operation: string,
  namespace: string,
  url: string,
  { versions = [], listsServices = true, clockOffsetSeconds = 0, statesLocalTime = false }: SimulatorOptions,
): string | null {
  const version = ([1, 2] as const).find((each) => serviceVersions[each] === namespace);
  const base = url.replace('/onvif/device_service', '');
  const host = new URL(url).hostname;
  if (version !== undefined && !versions.includes(version)) return null;
  switch (operation) {
    case 'GetSystemDateAndTime':
      return dateAndTime(new Date(Date.now() + clockOffsetSeconds * 1000), statesLocalTime ? 'Local' : 'UTC');
    case 'GetServices':
      return listsServices
        ? `<tds:GetServicesResponse>${versions.map((each) => `<tds:Service><tds:Namespace>${serviceVersions[each]}</tds:Namespace><tds:XAddr>${base}/onvif/media${each}</tds:XAddr></tds:Service>`).join('')}</tds:GetServicesResponse>`
        : null;
    case 'GetCapabilities':
      return `<tds:GetCapabilitiesResponse><tds:Capabilities><tt:Media><tt:XAddr>${base}/onvif/media1</tt:XAddr></tt:Media></tds:Capabilities></tds:GetCapabilitiesResponse>`;
    case 'GetProfiles':
      return version === 2
        ? `<tr2:GetProfilesResponse>${profile2('main', 'H265', 2560, 1440)}${profile2('sub', 'H264', 640, 360)}</tr2:GetProfilesResponse>`
        : `<trt:GetProfilesResponse>${profile1('main', 'H264', 1920, 1080)}<trt:Profiles token="audio"><tt:Name>audio</tt:Name></trt:Profiles></trt:GetProfilesResponse>`;
    case 'GetStreamUri': {
      const uri = `rtsp://user:secret@${host}:8554/live?channel=1&amp;stream=${version}`;
      return version === 2
        ? `<tr2:GetStreamUriResponse><tr2:Uri>${uri}</tr2:Uri></tr2:GetStreamUriResponse>`
        : `<trt:GetStreamUriResponse><trt:MediaUri><tt:Uri>${uri}</tt:Uri><tt:InvalidAfterConnect>false</tt:InvalidAfterConnect></trt:MediaUri></trt:GetStreamUriResponse>`;
    }
    case 'GetSnapshotUri':
      return version === 2
        ? `<tr2:GetSnapshotUriResponse><tr2:Uri>http://${host}/snapshot.jpg</tr2:Uri></tr2:GetSnapshotUriResponse>`
        : null;
    default:
      return null;
  }
}

function dateAndTime(now: Date, kind: 'UTC' | 'Local'): string {
  const field = (name: string, value: number) => `<tt:${name}>${value}</tt:${name}>`;
  const time = `<tt:Time>${field('Hour', now.getUTCHours())}${field('Minute', now.getUTCMinutes())}${field('Second', now.getUTCSeconds())}</tt:Time>`;
  const date = `<tt:Date>${field('Year', now.getUTCFullYear())}${field('Month', now.getUTCMonth() + 1)}${field('Day', now.getUTCDate())}</tt:Date>`;
  return `<tds:GetSystemDateAndTimeResponse><tds:SystemDateAndTime><tt:DateTimeType>NTP</tt:DateTimeType><tt:${kind}DateTime>${time}${date}</tt:${kind}DateTime></tds:SystemDateAndTime></tds:GetSystemDateAndTimeResponse>`;
}

function profile1(token: string, codec: string, width: number, height: number): string {
  return `<trt:Profiles token="${token}" fixed="true"><tt:Name>${token}</tt:Name><tt:VideoEncoderConfiguration token="e"><tt:Name>e</tt:Name><tt:Encoding>${codec}</tt:Encoding><tt:Resolution><tt:Width>${width}</tt:Width><tt:Height>${height}</tt:Height></tt:Resolution></tt:VideoEncoderConfiguration></trt:Profiles>`;
}

function profile2(token: string, codec: string, width: number, height: number): string {
  return `<tr2:Profiles token="${token}"><tr2:Name>${token}</tr2:Name><tr2:Configurations><tr2:VideoEncoder token="e"><tt:Name>e</tt:Name><tt:Encoding>${codec}</tt:Encoding><tt:Resolution><tt:Width>${width}</tt:Width><tt:Height>${height}</tt:Height></tt:Resolution></tr2:VideoEncoder></tr2:Configurations></tr2:Profiles>`;
}
