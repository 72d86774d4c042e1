/**
 * Returns a URL without secrets, in which streams remain distinguishable. Masks passwords, the fragment, query values
 * except known harmless ones, and path segments that look like secrets. A masked URL is masked to itself.
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
 * Masks the password of `user:password@`, and a user name that looks like a key. If the text is not a valid or
 * unambiguous URL, masks up to the last `@` before the query: any part of it may be a credential.
 */
function maskUserInfo(url: string): string {
  return url.replace(isPlain(url) ? userInfoOfUrl : userInfoOfText, (_, scheme: string, userInfo: string) => {
    const user = userInfo.split(/[:/\\]/, 1)[0] ?? '';
    // Some services use the user name as key, with an empty password.
    const shown = looksSecret(user) || userInfo === `${user}:` ? '***' : user;
    return user === userInfo ? `${scheme}${shown}@` : `${scheme}${shown}:***@`;
  });
}

const userInfoOfUrl = /^([a-z][a-z0-9+.-]*:\/\/)([^/?#]*)@/i;
const userInfoOfText = /^(\s*[a-z][a-z0-9+.-]*:[/\\]*(?![/\\]))([^?#]*)@/i;

/** Returns true if all parsers split the URL alike: then an `@` in its path does not end a credential. */
function isPlain(url: string): boolean {
  return /^[a-z][a-z0-9+.-]*:\/\/[^/\\]/i.test(url) && !url.includes('\\') && URL.canParse(url);
}

/** Masks an invalid port: it is the start of a password that contains `?`, `#` or `/`. */
function maskPort(origin: string): string {
  return origin.replace(/^(\s*[a-z][a-z0-9+.-]*:[^[\]:@]+):(?!\d{0,5}$)(?!\*{3}@).*$/is, '$1:***');
}

function maskPath(path: string): string {
  const masked = path.replace(xtreamCodes, '$1/***/***/');
  const segments = masked.split('/');
  return segments
    .map((segment, index) =>
      secretName.test(segments[index - 1] ?? '') && segment !== '' ? '***' : maskSegment(segment),
    )
    .join('/');
}

/** Path of IPTV servers with user name and password: `/live/<user>/<password>/<stream>.m3u8`. */
const xtreamCodes = /^(\/(?:live|movie|series|timeshift))\/[^/]+\/[^/]+\/(?=\d+(?:\.\w+)?$)/i;

/** Names of path segments that a secret follows. */
const secretName =
  /^(?:access[_-]?)?(?:token|key|auth|secret|sig|signature|hash|jwt|session|sid|hdnts|hdntl|hdnea|pass|password|pwd)$/i;

/** Masks a path segment. Keeps the name of `name=value`, which cameras and Akamai use, also several in one segment. */
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

/**
 * Query parameters that distinguish streams of one server. This is an allow list, because no list of secret names is
 * complete.
 */
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

/**
 * Returns true if the text looks random (key, hash, signature, UUID) rather than like a name. A false positive hides a
 * name, a false negative shows a credential.
 */
function looksSecret(text: string): boolean {
  if (/eyJ[\w-]{8}/.test(text) || uuid.test(text)) return true;
  const runs = text.split(/[^A-Za-z0-9+%]+/);
  return runs.some(isRandomRun) || changesOften(text);
}

const uuid = /[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/i;

/** Detects hexadecimal and base64 without separators. Up to 19 digits alone are a number or a time. */
function isRandomRun(run: string): boolean {
  const hasLetter = /[a-z]/i.test(run);
  if (!hasLetter) return run.length >= 20;
  if (/\d/.test(run)) return run.length >= 16 || (run.length >= 10 && shareOfChanges(run) >= 0.5);
  return run.length >= 24 || (run.length >= 16 && /[a-z]/.test(run) && shareOfChanges(run) >= 0.4);
}

/** Detects base64url, whose separators split it into short runs. */
function changesOften(text: string): boolean {
  const letters = text.replaceAll(/[^A-Za-z0-9]/g, '');
  return letters.length >= 16 && shareOfChanges(letters) >= 0.45;
}

/** Returns the share of changes between lower case, upper case and digits: about 0.6 in random text, 0.25 in names. */
function shareOfChanges(text: string): number {
  const kinds = Array.from(text, (character) => {
    if (/\d/.test(character)) return 'digit';
    return character === character.toLowerCase() ? 'lower' : 'upper';
  });
  const changes = kinds.filter((kind, index) => index > 0 && kind !== kinds[index - 1]).length;
  return changes / Math.max(1, kinds.length - 1);
}
