import { z } from 'zod';
import { StreamFetchError, TransientError } from '../../core/errors.ts';
import type { Log } from '../../core/ports/observability.ts';
import { accountCookies, accountSites, type AccountPlatform } from '../platforms/cookies.ts';
import type { PlatformSettings } from '../platforms/platform-settings.ts';
import type { Secret } from './secret.ts';

/**
 * Schema of the operator's secret. Absent and empty values are not used. An unknown name is an error, because that
 * setting would have no effect.
 */
const platformSecretSchema = z.strictObject({
  youtube_cookies: cookiesSchema('youtube'),
  youtube_proxy: proxyUrl(),
  twitch_cookies: cookiesSchema('twitch'),
  twitch_proxy: proxyUrl(),
});

/**
 * Reads the accounts and proxies of platforms from a secret. Returns the same object while the secret is unchanged.
 * Throws `StreamFetchError` for an unusable secret and logs the reason, never the content. Throws `TransientError`
 * if a retry may succeed.
 */
export function createPlatformSecret(
  secret: Pick<Secret, 'current'>,
  plain: PlatformSettings,
  log: Log,
): () => Promise<PlatformSettings> {
  let last: { text: string; settings: PlatformSettings } | undefined;
  return async () => {
    const text = await secret.current().catch((error: unknown) => {
      if (error instanceof TransientError) throw error;
      return unusable(`it cannot be read (${error instanceof Error ? error.name : 'unknown error'})`);
    });
    if (last?.text !== text) last = { text, settings: parseSettings(text) };
    return last.settings;
  };

  function parseSettings(text: string): PlatformSettings {
    const read = platformSecretSchema.safeParse(parsed(text));
    if (!read.success) return unusable(z.prettifyError(read.error));
    const { youtube_cookies, youtube_proxy, twitch_cookies, twitch_proxy } = read.data;
    return {
      youtube: { ...plain.youtube, cookies: youtube_cookies, proxyUrl: youtube_proxy },
      twitch: { ...plain.twitch, cookies: twitch_cookies, proxyUrl: twitch_proxy },
    };
  }

  function unusable(why: string): never {
    log.error('Platform secret rejected', { why });
    throw new StreamFetchError(
      "Use the stream's HLS playlist (.m3u8), or ask the operator to check the secret (platformSecretArn) and the log. The settings of the service for YouTube and Twitch are invalid.",
    );
  }
}

/** Cookies as exported by browsers, or as one header. */
function cookiesSchema(platform: AccountPlatform) {
  const { site, cookie } = accountSites[platform];
  return z
    .string()
    .prefault('')
    .transform((text, context) => {
      if (text === '') return null;
      const cookies = accountCookies(text, platform);
      if (cookies === null)
        context.addIssue({ code: 'custom', message: `has no cookie ${cookie} of ${site}` });
      return cookies;
    });
}

function proxyUrl() {
  return z
    .union([z.literal(''), z.url({ protocol: /^https?$/ })], 'must be http://user:password@host:port')
    .prefault('')
    .transform((url) => url || null);
}

/** Omits the parser's error, which quotes the text. */
function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return 'no JSON';
  }
}
