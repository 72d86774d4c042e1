import { pageHost, pagePath } from '../page-path.ts';
import type { DeadPage, TwitchPage } from '../platform-page.ts';

/** Null where the URL is none that a stream can be found by. */
export function recogniseTwitch(url: URL): TwitchPage | DeadPage | null {
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

/** Tabs of a channel's page under which its stream plays on. */
const tabs = new Set(['home', 'about', 'schedule', 'chat', 'squad']);

/** Pages that a channel's name cannot be told from by its form. */
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

/** `/name/v/123` and the like, `/name/clip/Word`; the letters are of former times. */
function deadPage(second: string): DeadPage | null {
  if (second === 'clip' || second === 'clips') return { kind: 'clip' };
  return ['v', 'video', 'videos', 'b', 'c'].includes(second) ? { kind: 'recording' } : null;
}

function player(query: URLSearchParams): TwitchPage | DeadPage | null {
  return query.has('video') ? { kind: 'recording' } : channel(query.get('channel'));
}
