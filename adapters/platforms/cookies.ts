/**
 * Reads the cookies of one site as a `Cookie` header. The text is such a header, or a Netscape file as written by
 * browser extensions and yt-dlp. Its fields are separated by tabs: domain, flag, path, secure, expiry, name, value.
 * Returns null if it has no cookies.
 */
export function readCookies(text: string, site: string): string | null {
  const lines = text.split('\n').map((line) => line.replace(/\r$/, ''));
  const table = lines.flatMap((line) => readLine(line) ?? []);
  const pairs =
    table.length > 0
      ? table.filter(({ domain }) => belongsTo(domain, site)).map(({ name, value }) => `${name}=${value}`)
      : headerPairs(lines);
  return pairs.length > 0 ? pairs.join('; ') : null;
}

export type AccountPlatform = 'youtube' | 'twitch';

/** Site of each platform, and the cookie that identifies a signed-in account. */
export const accountSites: Record<AccountPlatform, { site: string; cookie: string }> = {
  youtube: { site: 'youtube.com', cookie: 'SAPISID' },
  twitch: { site: 'twitch.tv', cookie: 'auth-token' },
};

/** Reads the cookies of a platform. Returns null if they contain no signed-in account. */
export function accountCookies(text: string, platform: AccountPlatform): string | null {
  const { site, cookie } = accountSites[platform];
  const cookies = readCookies(text, site);
  return cookieValue(cookies, cookie) === null ? null : cookies;
}

/** Returns the value of one cookie in a header, or null. */
export function cookieValue(header: string | null, name: string): string | null {
  const pair = header?.split('; ').find((entry) => entry.startsWith(`${name}=`));
  return pair === undefined ? null : pair.slice(name.length + 1);
}

/**
 * Parses a line of a Netscape file. `#HttpOnly_` precedes the domain of cookies hidden from scripts; other lines
 * with # are comments.
 */
function readLine(line: string): { domain: string; name: string; value: string } | null {
  const fields = line.replace(/^#HttpOnly_/, '').split('\t');
  const [domain = '', , , , , name = '', value] = fields;
  if (value === undefined || domain.startsWith('#') || !isPlain(`${name}=${value}`)) return null;
  return { domain, name, value };
}

function belongsTo(domain: string, site: string): boolean {
  const bare = domain.replace(/^\./, '').toLowerCase();
  return bare === site || bare.endsWith(`.${site}`);
}

function headerPairs(lines: string[]): string[] {
  const line = lines.find((text) => text.trim() !== '' && !text.startsWith('#')) ?? '';
  const pairs = line.replace(/^cookie:\s*/i, '').split(';');
  return pairs.map((pair) => pair.trim()).filter((pair) => /^[^=\s]+=/.test(pair) && isPlain(pair));
}

/** Returns true for printable ASCII, which a header may contain. */
function isPlain(pair: string): boolean {
  return /^[\x21-\x7e]+$/.test(pair.replaceAll(' ', ''));
}
