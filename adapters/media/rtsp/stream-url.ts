import type { EgressGuard } from '../../egress/guard.ts';
import type { Credentials } from './authentication.ts';

export type RtspTarget = {
  /** As it goes into requests and may be shown: without credentials and fragment. */
  url: string;
  host: string;
  port: number;
  credentials: Credentials | null;
};

/** Throws `InvalidUrlError`. */
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

/** A password may hold a bare percent sign. */
function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
