/**
 * Cookies of one site as a `Cookie` header, from a file as browsers' extensions and yt-dlp write it (Netscape format: domain, flag, path,
 * secure, expiry, name, value, with tabs between them) or from the header itself. Null where there is none of that site.
 */
export function readCookies(text: string, site: string): string | null {
  const lines = text.split('\n').map((line) => line.replace(/\r$/, ''));
  const table = lines.flatMap((line) => readLine(line) ?? []);
  const pairs =
    table.length > 0
      ? table.filter(({ domain }) => isOf(domain, site)).map(({ name, value }) => `${name}=${value}`)
      : headerPairs(lines);
  return pairs.length > 0 ? pairs.join('; ') : null;
}

export type Platform = 'youtube' | 'twitch';

/** The site of a platform, and the cookie that an account is recognised by there. */
export const accountOf: Record<Platform, { site: string; cookie: string }> = {
  youtube: { site: 'youtube.com', cookie: 'SAPISID' },
  twitch: { site: 'twitch.tv', cookie: 'auth-token' },
};

/** `readCookies` of a platform; null as well where they are of no account. */
export function accountCookies(text: string, platform: Platform): string | null {
  const { site, cookie } = accountOf[platform];
  const cookies = readCookies(text, site);
  return cookieValue(cookies, cookie) === null ? null : cookies;
}

/** The value of one cookie of a header; null where it is not there. */
export function cookieValue(header: string | null, name: string): string | null {
  const pair = header?.split('; ').find((entry) => entry.startsWith(`${name}=`));
  return pair === undefined ? null : pair.slice(name.length + 1);
}

/** `#HttpOnly_` stands before the domain of cookies that scripts may not see; other lines with # are comments. */
function readLine(line: string): { domain: string; name: string; value: string } | null {
  const fields = line.replace(/^#HttpOnly_/, '').split('\t');
  const [domain = '', , , , , name = '', value] = fields;
  if (value === undefined || domain.startsWith('#') || !isPlain(`${name}=${value}`)) return null;
  return { domain, name, value };
}

function isOf(domain: string, site: string): boolean {
  const bare = domain.replace(/^\./, '').toLowerCase();
  return bare === site || bare.endsWith(`.${site}`);
}

function headerPairs(lines: string[]): string[] {
  const line = lines.find((text) => text.trim() !== '' && !text.startsWith('#')) ?? '';
  const pairs = line.replace(/^cookie:\s*/i, '').split(';');
  return pairs.map((pair) => pair.trim()).filter((pair) => /^[^=\s]+=/.test(pair) && isPlain(pair));
}

/** Fit for a header. */
function isPlain(pair: string): boolean {
  return /^[\x21-\x7e]+$/.test(pair.replaceAll(' ', ''));
}
