import type { Log, LogFields } from '../ports/observability.ts';

/**
 * Removes secrets from a log text, which all holders of the scope `internal` can read. URLs keep scheme and host; keys,
 * tokens and authorization headers are masked. This is the last defense: texts of third parties (ffmpeg, an SDK, a
 * receiver) may quote secrets.
 */
export function redact(text: string): string {
  const withoutUrls = text.replace(urls, redactUrl);
  return masks.reduce((masked, { pattern, by }) => masked.replace(pattern, by), withoutUrls);
}

/** URLs up to the next white space. `file:` is excluded: it occurs in stack traces and contains no secret. */
const urls = /(?<![a-z0-9+.-])(?!file:)([a-z][a-z0-9+.-]{0,30}:[\\/]{2,})(\S*)/gi;

function redactUrl(_: string, scheme: string, text: string): string {
  // A closing quotation mark ends the URL, unless it is part of a password.
  const end = text.search(/["'<>`]|(?<![),.;:])[),.;:]+$/);
  const isWhole = end < 0 || text.includes('@', end);
  const [url, rest] = isWhole ? [text, ''] : [text.slice(0, end), text.slice(end)];
  const [authority = ''] = url.split(/[/?#\\]/, 1);
  const beyond = url.slice(authority.length);
  const host = authority.slice(authority.lastIndexOf('@') + 1);
  // In `user:12/3@host` the apparent host and port are the start of a credential.
  const isHost = plainHost.test(host) && !(host.includes(':') && beyond.includes('@'));
  return `${scheme}${isHost ? host : '***'}${beyond === '' || beyond === '/' ? beyond : '/***'}${rest}`;
}

const plainHost = /^(?:\[[0-9a-f:.]{2,45}\]|[\p{L}\p{N}._-]{1,255})(?::\d{1,5})?$/iu;

/** Returns a log that redacts messages and fields before it writes them. */
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

/** Patterns of secrets. Each takes linear time, because the length before its keyword is bounded. */
const masks: readonly { pattern: RegExp; by: string }[] = [
  // URL in the query or path of another URL.
  { pattern: /\b[a-z][a-z0-9+.-]{0,30}%3a(?:%2f|\/){2}\S*/gi, by: '***' },
  // Credentials of a URL without its scheme.
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
  // Token of a bot of Telegram.
  { pattern: /\b(?:bot)?\d{3,20}:[\w-]{30,100}/g, by: '***' },
  { pattern: /\b(Bearer|Basic|Digest) +[\w.~+/=-]{8,}/gi, by: '$1 ***' },
];

/**
 * Replaces control characters by their code, as `\u001b`, and those that reorder text. A terminal obeys them: a name
 * from elsewhere could clear the screen, set its title, or show another text than it has. Keeps line breaks and tabs,
 * and the meaning of JSON.
 */
export function showControls(text: string): string {
  return text.replaceAll(controls, (control) => `\\u${control.charCodeAt(0).toString(16).padStart(4, '0')}`);
}

/** C0 without tab and line feed, DEL, C1, and embeddings, overrides and isolates of text direction. */
// oxlint-disable-next-line no-control-regex
const controls = /[\u0000-\u0008\u000B-\u001F\u007F-\u009F\u202A-\u202E\u2066-\u2069]/g;
