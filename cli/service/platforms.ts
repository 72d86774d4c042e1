import { readFile } from 'node:fs/promises';
import { accountCookies, accountSites, type AccountPlatform } from '../../adapters/platforms/cookies.ts';
import { defaultPlatformSettings } from '../../adapters/platforms/platform-settings.ts';
import type { PlatformSettings } from '../../adapters/platforms/platform-settings.ts';
import { SettingsError, type Settings } from '../settings.ts';

/**
 * Creates the platform resolvers. Reads cookie files at start, so that an invalid file is reported immediately. Throws
 * `SettingsError`.
 */
export async function loadPlatformSettings(settings: Settings): Promise<PlatformSettings> {
  const { youtubeCookies, twitchCookies } = settings;
  return {
    youtube: {
      url: trimmed(settings.youtubeUrl),
      clients: settings.youtubeClients,
      cookies: await cookiesIn(youtubeCookies, 'WATCHPOST_YOUTUBE_COOKIES', 'youtube'),
      proxyUrl: settings.youtubeProxy || null,
    },
    twitch: {
      gqlUrl: settings.twitchGqlUrl,
      usherUrl: trimmed(settings.twitchUsherUrl),
      clientId: defaultPlatformSettings.twitch.clientId,
      cookies: await cookiesIn(twitchCookies, 'WATCHPOST_TWITCH_COOKIES', 'twitch'),
      proxyUrl: settings.twitchProxy || null,
    },
  };
}

async function cookiesIn(file: string, variable: string, platform: AccountPlatform): Promise<string | null> {
  if (file === '') return null;
  const text = await readFile(file, 'utf8').catch((cause: unknown) => {
    throw new SettingsError(`${variable}: ${file} cannot be read`, { cause });
  });
  const cookies = accountCookies(text, platform);
  if (cookies === null) {
    const { site, cookie } = accountSites[platform];
    throw new SettingsError(
      `${variable}: ${file} has no cookie ${cookie} of ${site}. Export the cookies of a browser that is signed in to ${site}.`,
    );
  }
  return cookies;
}

function trimmed(url: string): string {
  return url.replace(/(?<!\/)\/+$/, '');
}
