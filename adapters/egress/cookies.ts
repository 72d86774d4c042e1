import { parseHttpDate } from '../../core/outside-time.ts';
import { createFairByteCache } from '../byte-cache.ts';

/** Cookies of one stream, which its servers have set. */
export type CookieJar = ReturnType<typeof createCookieJar>;

type Cookie = {
  name: string;
  value: string;
  host: string;
  hasSubdomains: boolean;
  path: string;
  isSecure: boolean;
};

const maxCookies = 20;
const maxCookieLength = 4096;
const maxBytes = 32 * 1024 * 1024;
/** Memory of a cookie beside its texts. */
const cookieBytes = 200;

/** Creates a jar (RFC 6265). It forgets cookies with their stream, so it reads no expiry but that of a deletion. */
export function createCookieJar(now: () => Date) {
  let cookies: Cookie[] = [];
  return {
    /** Returns the header for a request; undefined without a cookie. */
    header(url: URL): string | undefined {
      const sent = cookies.filter((cookie) => isFor(cookie, url));
      return sent.length === 0 ? undefined : sent.map(({ name, value }) => `${name}=${value}`).join('; ');
    },
    /** Takes the `Set-Cookie` headers of a response from this URL. */
    take(url: URL, headers: readonly string[]): void {
      for (const header of headers) {
        const read = header.length <= maxCookieLength ? readCookie(header, url, now()) : null;
        if (read === null) continue;
        cookies = cookies.filter((cookie) => !isSame(cookie, read.cookie));
        if (!read.isDeleted) cookies = [...cookies, structuredClone(read.cookie)].slice(-maxCookies);
      }
    },
    /** Length of all names, values and paths. */
    length: () =>
      cookies.reduce((sum, { name, value, path }) => sum + name.length + value.length + path.length, 0),
  };
}

/** Creates the jars of streams, by caller and URL. */
export function createCookieJars({
  max,
  now,
}: {
  max: number;
  now: () => Date;
}): (caller: string, url: string) => CookieJar {
  const jars = createFairByteCache<CookieJar>({
    name: 'cookies',
    max,
    maxBytes,
    bytesOf: (jar) => cookieBytes * maxCookies + 2 * jar.length(),
  });
  return (caller, url) => {
    const jar = jars.get(caller, url) ?? createCookieJar(now);
    jars.set(caller, url, jar);
    return {
      ...jar,
      take(from, headers) {
        jar.take(from, headers);
        // Its size is measured again.
        if (headers.length > 0) jars.set(caller, url, jar);
      },
    };
  };
}

/** Returns null for a cookie of another host, and for text that a header cannot have. */
function readCookie(header: string, url: URL, now: Date): { cookie: Cookie; isDeleted: boolean } | null {
  const [pair = '', ...rest] = header.split(';').map((part) => part.trim());
  const [name, value] = splitPair(pair);
  if (!/^[\x21-\x7e]+$/.test(name) || !/^[\x20-\x7e]*$/.test(value)) return null;
  const attributes = new Map(rest.map(splitPair).map(([key, text]) => [key.toLowerCase(), text]));
  const domain = attributes.get('domain')?.replace(/^\./, '').toLowerCase();
  if (domain && !isWithin(url.hostname, domain)) return null;
  const path = attributes.get('path');
  const cookie = {
    name,
    value,
    host: domain || url.hostname,
    hasSubdomains: Boolean(domain),
    path: path?.startsWith('/') ? path : toFolder(url.pathname),
    isSecure: attributes.has('secure'),
  };
  const expires = parseHttpDate(attributes.get('expires') ?? '') ?? Number.NaN;
  const maxAge = attributes.get('max-age');
  const isDeleted = maxAge === undefined ? expires <= now.getTime() : Number(maxAge) <= 0;
  return { cookie, isDeleted };
}

function splitPair(text: string): [string, string] {
  const index = text.indexOf('=');
  return index < 0 ? [text, ''] : [text.slice(0, index).trim(), text.slice(index + 1).trim()];
}

function isSame(one: Cookie, other: Cookie): boolean {
  return one.name === other.name && one.host === other.host && one.path === other.path;
}

function isFor({ host, hasSubdomains, path, isSecure }: Cookie, url: URL): boolean {
  const isHost = hasSubdomains ? isWithin(url.hostname, host) : url.hostname === host;
  const isPath = url.pathname === path || url.pathname.startsWith(path.endsWith('/') ? path : `${path}/`);
  return isHost && isPath && (!isSecure || url.protocol === 'https:');
}

/** Default path of a cookie (RFC 6265, 5.1.4). */
function toFolder(path: string): string {
  return path.slice(0, Math.max(1, path.lastIndexOf('/')));
}

/** An address is in no domain: its last numbers are no name. */
function isWithin(host: string, domain: string): boolean {
  return host === domain || (host.endsWith(`.${domain}`) && /[a-z]$/.test(domain));
}
