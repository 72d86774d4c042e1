import { looksSecret } from './secret-like.ts';

/**
 * The URL as callers are shown it, wherever it is shown: enough to tell one stream from another, and nothing that opens one. Masked are passwords, the
 * fragment, every value of the query but those that are known to be harmless, and what looks like a secret in the path. Masking twice changes nothing.
 */
export function maskUrl(url: string): string {
  const shown = maskUserInfo(url);
  const [, origin = '', path = '', query, fragment] = parts.exec(shown) ?? [];
  if (origin === '') return shown;
  return [
    maskPort(origin),
    maskPath(path),
    query === undefined ? '' : `?${maskQuery(query)}`,
    fragment === undefined || fragment === '' ? '' : '#***',
  ].join('');
}

const parts = /^(\s*[a-z][a-z0-9+.-]*:[/\\]*[^/?#\\]*)([^?#]*)(?:\?([^#]*))?(?:#(.*))?$/is;

/**
 * Without the password of `user:password@`, and without a user's name that may be a key. Text that parsers refuse, or read in more than one way, is masked up
 * to its last `@` before the query: whatever stands there may be a credential.
 */
function maskUserInfo(url: string): string {
  return url.replace(isPlain(url) ? userInfoOfUrl : userInfoOfText, (_, scheme: string, userInfo: string) => {
    const user = userInfo.split(/[:/\\]/, 1)[0] ?? '';
    // With an empty password the name is the key, as some services have it.
    const shown = looksSecret(user) || userInfo === `${user}:` ? '***' : user;
    return user === userInfo ? `${scheme}${shown}@` : `${scheme}${shown}:***@`;
  });
}

const userInfoOfUrl = /^([a-z][a-z0-9+.-]*:\/\/)([^/?#]*)@/i;
const userInfoOfText = /^(\s*[a-z][a-z0-9+.-]*:[/\\]*)([^?#]*)@/i;

/** A URL that every reader divides alike: an `@` of its path is no credential's end. */
function isPlain(url: string): boolean {
  return /^[a-z][a-z0-9+.-]*:\/\/[^/\\]/i.test(url) && !url.includes('\\') && URL.canParse(url);
}

/** What stands where a port belongs and is none is the beginning of a password with a `?`, `#` or `/` in it. */
function maskPort(origin: string): string {
  return origin.replace(/^(\s*[a-z][a-z0-9+.-]*:[/\\]*[^[\]:@]+):(?!\d{0,5}$)(?!\*{3}@).*$/is, '$1:***');
}

function maskPath(path: string): string {
  const known = path.replace(xtreamCodes, '$1/***/***/');
  const segments = known.split('/');
  return segments
    .map((segment, index) =>
      secretName.test(segments[index - 1] ?? '') && segment !== '' ? '***' : maskSegment(segment),
    )
    .join('/');
}

/** Names and passwords of subscribers stand in the path at many servers of television: `/live/<user>/<password>/<stream>.m3u8`. */
const xtreamCodes = /^(\/(?:live|movie|series|timeshift))\/[^/]+\/[^/]+\/(?=\d+(?:\.\w+)?$)/i;

/** The segment after one of these names is the secret. */
const secretName =
  /^(?:access[_-]?)?(?:token|key|auth|secret|sig|signature|hash|jwt|session|sid|hdnts|hdntl|hdnea|pass|password|pwd)$/i;

/** Of `name=value` the name, also of several in one segment, as cameras and Akamai have them. */
function maskSegment(segment: string): string {
  const text = decoded(segment);
  const [name = ''] = text.split(/[=;]/, 1);
  if (name !== text) return looksSecret(name) ? '***' : `${encodeURI(name)}${text.charAt(name.length)}***`;
  if (text.includes(':') && text.indexOf('@') > text.indexOf(':')) return '***';
  if (text.includes('://') || text.includes('?')) return '***';
  return looksSecret(text) ? `***${extension(text)}` : segment;
}

function extension(text: string): string {
  return /\.(?:m3u8|mpd|ts|mp4|m4s|flv|sdp|smil|mov|mkv|webm|cmfv|isml?)$/i.exec(text)?.[0] ?? '';
}

function maskQuery(query: string): string {
  return query
    .split('&')
    .map((pair) => {
      const end = pair.indexOf('=');
      const name = end < 0 ? '' : pair.slice(0, end);
      const value = pair.slice(end + 1);
      if (value === '') return name === '' || looksSecret(decoded(name)) ? pair && '***' : pair;
      if (looksSecret(decoded(name))) return '***';
      const isShown = harmless.has(decoded(name).toLowerCase()) && /^[\w.,:-]{1,15}$/.test(value);
      return `${end < 0 ? '' : `${name}=`}${isShown ? value : '***'}`;
    })
    .join('&');
}

/** What tells streams of one server apart. Names of secrets have no list that is complete, so these are listed. */
const harmless = new Set(
  (
    'v list index t start feature ab_channel camera cam channel ch stream subtype profile unicast proto transportmode ' +
    'quality resolution res width height fps framerate bitrate codec videocodec format type lang variant audio video'
  ).split(' '),
);

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
