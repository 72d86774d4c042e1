import type { EgressGuard } from '../../egress/guard.ts';
import { readCredentials, type Credentials } from '../../egress/credentials.ts';

/** Server and path of an RTSP stream. */
export type RtspTarget = {
  /** URL for requests and for display, without credentials and fragment. */
  url: string;
  host: string;
  port: number;
  /** True for `rtsps`: RTSP over TLS. */
  isSecure: boolean;
  credentials: Credentials | null;
};

/** Parses and checks an RTSP URL. Throws `InvalidUrlError`. */
export function readRtspUrl(text: string, guard: EgressGuard): RtspTarget {
  const url = guard.check(text, ['rtsp', 'rtsps']);
  const isSecure = url.protocol === 'rtsps:';
  const credentials = readCredentials(url);
  url.username = '';
  url.password = '';
  url.hash = '';
  return {
    url: url.href,
    host: url.hostname,
    port: url.port === '' ? (isSecure ? 322 : 554) : Number(url.port),
    isSecure,
    credentials,
  };
}
