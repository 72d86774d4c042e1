import { platformOf } from '../../core/platform.ts';
import type { PlatformPage } from './platform-page.ts';
import { recogniseTwitch } from './twitch/recognise-twitch.ts';
import { recogniseYoutube } from './youtube/recognise-youtube.ts';

/** Parses the URL of a platform page, without a request. Returns null for other URLs. */
export function recognisePlatform(url: URL): PlatformPage | null {
  const platform = platformOf(url.href);
  if (platform === 'youtube') return { platform, ...(recogniseYoutube(url) ?? other) };
  if (platform === 'twitch') return { platform, ...(recogniseTwitch(url) ?? other) };
  return null;
}

const other = { kind: 'other' } as const;
