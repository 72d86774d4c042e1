import { detectPlatform } from '../../core/records/platform.ts';
import type { PlatformPage } from './platform-page.ts';
import { parseTwitchUrl } from './twitch/parse-twitch-url.ts';
import { parseYoutubeUrl } from './youtube/parse-youtube-url.ts';

/** Parses the URL of a platform page, without a request. Returns null for other URLs. */
export function parsePlatformUrl(url: URL): PlatformPage | null {
  const platform = detectPlatform(url.href);
  if (platform === 'youtube') return { platform, ...(parseYoutubeUrl(url) ?? other) };
  if (platform === 'twitch') return { platform, ...(parseTwitchUrl(url) ?? other) };
  return null;
}

const other = { kind: 'other' } as const;
