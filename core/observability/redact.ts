import type { Log, LogFields } from '../ports/log.ts';

/**
 * What may stand in a log, which is read by other callers than the one it tells of: of URLs the scheme and the host, and no key, token or header that
 * opens something. It is the last line of defence as well: texts of third parties (ffmpeg, an SDK, a receiver) may quote what we never write.
 */
export function redact(text: string): string {
  const withoutUrls = text.replace(urls, redactUrl);
  return masks.reduce((masked, { pattern, by }) => masked.replace(pattern, by), withoutUrls);
}

/** Up to white space. Addresses of source files in stack traces (`file:`) are no streams. */
const urls = /(?<![a-z0-9+.-])(?!file:)([a-z][a-z0-9+.-]{0,30}:[\\/]{2,})(\S*)/gi;

function redactUrl(_: string, scheme: string, text: string): string {
  // A URL ends with its quotation, unless the quotation mark is part of a password.
  const end = text.search(/["'<>`]|(?<![),.;:])[),.;:]+$/);
  const isWhole = end < 0 || text.includes('@', end);
  const [url, rest] = isWhole ? [text, ''] : [text.slice(0, end), text.slice(end)];
  const [authority = ''] = url.split(/[/?#\\]/, 1);
  const beyond = url.slice(authority.length);
  const host = authority.slice(authority.lastIndexOf('@') + 1);
  // `user:12/3@host`: what looks like host and port is the beginning of a credential.
  const isHost = plainHost.test(host) && !(host.includes(':') && beyond.includes('@'));
  return `${scheme}${isHost ? host : '***'}${beyond === '' || beyond === '/' ? beyond : '/***'}${rest}`;
}

const plainHost = /^(?:\[[0-9a-f:.]{2,45}\]|[\p{L}\p{N}._-]{1,255})(?::\d{1,5})?$/iu;

/** A log that writes nothing before it is redacted. */
export function redactedLog(log: Log): Log {
  return {
    debug: (message, fields) => log.debug(redact(message), redactedFields(fields)),
    info: (message, fields) => log.info(redact(message), redactedFields(fields)),
    warning: (message, fields) => log.warning(redact(message), redactedFields(fields)),
    error: (message, fields) => log.error(redact(message), redactedFields(fields)),
  };
}

function redactedFields(fields: LogFields | undefined): LogFields | undefined {
  if (fields === undefined) return undefined;
  return Object.fromEntries(
    Object.entries(fields).map(([name, value]) => [name, typeof value === 'string' ? redact(value) : value]),
  );
}

/** Each is linear in the text: what may stand before a word that is looked for is bounded. */
const masks: readonly { pattern: RegExp; by: string }[] = [
  // A URL within another one's query or path.
  { pattern: /\b[a-z][a-z0-9+.-]{0,30}%3a(?:%2f|\/){2}\S*/gi, by: '***' },
  // What is left of a URL without its scheme.
  { pattern: /[^\s:/@"'=]{1,64}:[^\s/@"']{1,200}@(?=[\w[])/g, by: '***@' },
  { pattern: /([?&;][^\s=&;?"']{1,60}=)[^\s&;#"']+/g, by: '$1***' },
  {
    pattern:
      /\b([\w-]{0,40}(?:token|key|signature|secret|credential|password|pwd|jwt|hmac|hdnts|hdntl|hdnea)=)[^\s&;#"']+/gi,
    by: '$1***',
  },
  { pattern: /\beyJ[\w-]{8,}(?:\.[\w-]*){0,4}/g, by: '***' },
  { pattern: /\bwp_[\w-]{20,}/g, by: 'wp_***' },
  { pattern: /\bwhsec_[\w+/=-]+/g, by: 'whsec_***' },
  { pattern: /\b(Bearer|Basic|Digest) +[\w.~+/=-]{8,}/gi, by: '$1 ***' },
];
