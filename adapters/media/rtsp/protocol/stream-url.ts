import type { EgressGuard } from '../../../egress/guard.ts';
import { readCredentials, type Credentials } from '../../../egress/authorizer.ts';

export type RtspTarget = Transport & {
  /** URL for requests, without credentials and fragment. */
  url: string;
  /** URL for display: as `url`, with the scheme of the transport. */
  shownUrl: string;
  host: string;
  port: number;
  credentials: Credentials | null;
};

type Transport = {
  /** True for RTSP over TLS. */
  isSecure: boolean;
  /** True for RTSP that is tunnelled through HTTP. */
  isTunnelled: boolean;
};

const transports: Record<string, Transport & { usualPort: number }> = {
  rtsp: { usualPort: 554, isSecure: false, isTunnelled: false },
  rtsps: { usualPort: 322, isSecure: true, isTunnelled: false },
  'rtsp+http': { usualPort: 80, isSecure: false, isTunnelled: true },
  'rtsp+https': { usualPort: 443, isSecure: true, isTunnelled: true },
};

/** Parses and checks an RTSP URL. Throws `InvalidUrlError`. */
export function readRtspUrl(text: string, guard: EgressGuard): RtspTarget {
  const url = guard.check(text, Object.keys(transports));
  const transport = transports[url.protocol.slice(0, -1)];
  if (transport === undefined) throw new RangeError(`Scheme ${url.protocol} has no transport`);
  const { usualPort, ...kind } = transport;
  const credentials = readCredentials(url);
  url.username = '';
  url.password = '';
  url.hash = '';
  return {
    ...kind,
    url: kind.isTunnelled ? url.href.replace(/^rtsp\+https?:/, 'rtsp:') : url.href,
    shownUrl: url.href,
    host: url.hostname,
    port: url.port === '' ? usualPort : Number(url.port),
    credentials,
  };
}
