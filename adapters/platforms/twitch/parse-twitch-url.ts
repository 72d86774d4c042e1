import { pageHost, pagePath } from '../page-path.ts';
import type { NotLivePage, TwitchPage } from '../platform-page.ts';

/** Parses a Twitch URL. Returns null if it cannot lead to a stream. */
export function parseTwitchUrl(url: URL): TwitchPage | NotLivePage | null {
  const host = pageHost(url);
  if (host === 'clips.twitch.tv') return { kind: 'clip' };
  if (host === 'player.twitch.tv') return player(url.searchParams);
  const parts = pagePath(url);
  if (parts === null || !hosts.has(host)) return null;
  const [first = '', second, third] = parts;
  if (first === 'videos' && second !== undefined) return { kind: 'recording' };
  if (first === 'collections') return { kind: 'playlist' };
  if (second === undefined || (tabs.has(second) && third === undefined)) return channel(first);
  return deadPage(second);
}

const hosts = new Set(['twitch.tv', 'www.twitch.tv', 'm.twitch.tv', 'go.twitch.tv']);

/** Tabs of a channel page that also play the stream. */
const tabs = new Set(['home', 'about', 'schedule', 'chat', 'squad']);

/** Paths that have the form of a channel name. */
const reserved = new Set([
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

function channel(name: string | null): TwitchPage | null {
  const login = name?.toLowerCase() ?? '';
  return /^\w{1,25}$/.test(login) && !reserved.has(login) ? { kind: 'channel', login } : null;
}

/** Parses `/name/v/123`, `/name/clip/Word` and older forms. */
function deadPage(second: string): NotLivePage | null {
  if (second === 'clip' || second === 'clips') return { kind: 'clip' };
  return ['v', 'video', 'videos', 'b', 'c'].includes(second) ? { kind: 'recording' } : null;
}

function player(query: URLSearchParams): TwitchPage | NotLivePage | null {
  return query.has('video') ? { kind: 'recording' } : channel(query.get('channel'));
}
