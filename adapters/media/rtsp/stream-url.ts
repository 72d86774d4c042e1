import type { EgressGuard } from '../../egress/guard.ts';
import type { Credentials } from './authentication.ts';

/** Server and path of an RTSP stream. */
export type RtspTarget = {
  /** URL for requests and for display, without credentials and fragment. */
  url: string;
  host: string;
  port: number;
  credentials: Credentials | null;
};

/** Parses and checks an RTSP URL. Throws `InvalidUrlError`. */
export function readRtspUrl(text: string, guard: EgressGuard): RtspTarget {
  const url = guard.check(text, ['rtsp']);
  const { username, password } = url;
  url.username = '';
  url.password = '';
  url.hash = '';
  return {
    url: url.href,
    host: url.hostname,
    port: url.port === '' ? 554 : Number(url.port),
    credentials:
      username === '' && password === ''
        ? null
        : { username: decoded(username), password: decoded(password) },
  };
}

/** Decodes a part of the URL. Returns it unchanged if a password contains a bare percent sign. */
function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
