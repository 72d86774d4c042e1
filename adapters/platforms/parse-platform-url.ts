import { detectPlatform } from '../../core/records/platform.ts';
import type { PlatformPage, NotLivePage, TwitchPage, YoutubePage } from './resolution.ts';

/** Parses a YouTube URL. Returns null if it cannot lead to a stream. */
function parseYoutubeUrl(url: URL): YoutubePage | NotLivePage | null {
  const host = pageHost(url);
  const parts = pagePath(url);
  if (parts === null) return null;
  if (host === 'youtu.be' || host === 'www.youtu.be') return video(parts[0]);
  if (!youtubeHosts.has(host)) return null;
  const [first = '', second] = parts;
  const dead = deadPages.get(first);
  if (dead !== undefined) return dead;
  if (first === 'watch') return video(second ?? url.searchParams.get('v'));
  if (first === 'embed' && second === 'live_stream') return byId(url.searchParams.get('channel'));
  return videoFolders.has(first) ? video(second) : channel(parts);
}

const youtubeHosts = new Set([
  'youtube.com',
  'www.youtube.com',
  'm.youtube.com',
  'music.youtube.com',
  'gaming.youtube.com',
  'youtube-nocookie.com',
  'www.youtube-nocookie.com',
]);

const deadPages = new Map<string, NotLivePage>([
  ['shorts', { kind: 'short' }],
  ['clip', { kind: 'clip' }],
  ['playlist', { kind: 'playlist' }],
]);

const videoFolders = new Set(['live', 'embed', 'v', 'e']);

function video(id: string | null | undefined): YoutubePage | null {
  return id && /^[\w-]{11}$/.test(id) ? { kind: 'video', videoId: id } : null;
}

/**
 * Parses `/@handle`, `/channel/UC…`, `/c/name` and `/user/name`, each with an optional tab, and the old form
 * `/name/live`.
 */
function channel([first = '', second, third, ...more]: string[]): YoutubePage | null {
  if (more.length > 0) return null;
  if (first.startsWith('@')) {
    return isHandle(first) && isTab(second) && third === undefined ? toChannel(first) : null;
  }
  if (first === 'channel') return isTab(third) ? byId(second) : null;
  if (first === 'c' || first === 'user') {
    return second !== undefined && isName(second) && isTab(third) ? toChannel(first, second) : null;
  }
  return second === 'live' && third === undefined && isName(first) ? toChannel(first) : null;
}

function byId(id: string | null | undefined): YoutubePage | null {
  return id && /^UC[\w-]{22}$/.test(id) ? toChannel('channel', id) : null;
}

function toChannel(...parts: string[]): YoutubePage {
  return { kind: 'channel', path: parts.map((part) => `/${encodeURIComponent(part)}`).join('') };
}

/** Returns true for tabs of a channel page that lead to its live video. */
function isTab(part: string | undefined): boolean {
  return part === undefined || part === 'live' || part === 'streams' || part === 'featured';
}

/** Returns true for a handle in any script. YouTube allows 3 to 30 characters. */
function isHandle(part: string): boolean {
  return /^@[\p{L}\p{M}\p{N}._·-]{1,60}$/u.test(part);
}

function isName(part: string): boolean {
  return /^[\p{L}\p{M}\p{N}._'-]{1,100}$/u.test(part);
}

/** Parses a Twitch URL. Returns null if it cannot lead to a stream. */
function parseTwitchUrl(url: URL): TwitchPage | NotLivePage | null {
  const host = pageHost(url);
  if (host === 'clips.twitch.tv') return { kind: 'clip' };
  if (host === 'player.twitch.tv') return twitchPlayer(url.searchParams);
  const parts = pagePath(url);
  if (parts === null || !twitchHosts.has(host)) return null;
  const [first = '', second, third] = parts;
  if (first === 'videos' && second !== undefined) return { kind: 'recording' };
  if (first === 'collections') return { kind: 'playlist' };
  if (second === undefined || (channelTabs.has(second) && third === undefined)) return twitchChannel(first);
  return twitchDeadPage(second);
}

const twitchHosts = new Set(['twitch.tv', 'www.twitch.tv', 'm.twitch.tv', 'go.twitch.tv']);

/** Tabs of a channel page that also play the stream. */
const channelTabs = new Set(['home', 'about', 'schedule', 'chat', 'squad']);

/** Paths that have the form of a channel name. */
const reservedLogins = new Set([
  'directory',
  'videos',
  'downloads',
  'drops',
  'friends',
  'inventory',
  'jobs',
  'login',
  'messages',
  'p',
  'prime',
  'search',
  'settings',
  'signup',
  'store',
  'subscriptions',
  'turbo',
  'wallet',
]);

function twitchChannel(name: string | null): TwitchPage | null {
  const login = name?.toLowerCase() ?? '';
  return /^\w{1,25}$/.test(login) && !reservedLogins.has(login) ? { kind: 'channel', login } : null;
}

/** Parses `/name/v/123`, `/name/clip/Word` and older forms. */
function twitchDeadPage(second: string): NotLivePage | null {
  if (second === 'clip' || second === 'clips') return { kind: 'clip' };
  return ['v', 'video', 'videos', 'b', 'c'].includes(second) ? { kind: 'recording' } : null;
}

function twitchPlayer(query: URLSearchParams): TwitchPage | NotLivePage | null {
  return query.has('video') ? { kind: 'recording' } : twitchChannel(query.get('channel'));
}

/** Parses the URL of a platform page, without a request. Returns null for other URLs. */
export function parsePlatformUrl(url: URL): PlatformPage | null {
  const platform = detectPlatform(url.href);
  if (platform === 'youtube') return { platform, ...(parseYoutubeUrl(url) ?? other) };
  if (platform === 'twitch') return { platform, ...(parseTwitchUrl(url) ?? other) };
  return null;
}

const other = { kind: 'other' } as const;

/**
 * Returns the decoded parts of a URL path without empty ones (doubled or trailing slashes), or null if decoding
 * fails.
 */
export function pagePath({ pathname }: URL): string[] | null {
  try {
    return pathname
      .split('/')
      .filter((part) => part !== '')
      .map(decodeURIComponent);
  } catch {
    return null;
  }
}

/** Returns the host in lower case, without a trailing dot. */
export function pageHost({ hostname }: URL): string {
  return hostname.toLowerCase().replace(/\.$/, '');
}
