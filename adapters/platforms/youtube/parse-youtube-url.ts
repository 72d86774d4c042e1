import { pageHost, pagePath } from '../page-path.ts';
import type { NotLivePage, YoutubePage } from '../platform-page.ts';

/** Parses a YouTube URL. Returns null if it cannot lead to a stream. */
export function parseYoutubeUrl(url: URL): YoutubePage | NotLivePage | null {
  const host = pageHost(url);
  const parts = pagePath(url);
  if (parts === null) return null;
  if (host === 'youtu.be' || host === 'www.youtu.be') return video(parts[0]);
  if (!hosts.has(host)) return null;
  const [first = '', second] = parts;
  const dead = deadPages.get(first);
  if (dead !== undefined) return dead;
  if (first === 'watch') return video(second ?? url.searchParams.get('v'));
  if (first === 'embed' && second === 'live_stream') return byId(url.searchParams.get('channel'));
  return videoFolders.has(first) ? video(second) : channel(parts);
}

const hosts = new Set([
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
    return isHandle(first) && isTab(second) && third === undefined ? at(first) : null;
  }
  if (first === 'channel') return isTab(third) ? byId(second) : null;
  if (first === 'c' || first === 'user') {
    return second !== undefined && isName(second) && isTab(third) ? at(first, second) : null;
  }
  return second === 'live' && third === undefined && isName(first) ? at(first) : null;
}

function byId(id: string | null | undefined): YoutubePage | null {
  return id && /^UC[\w-]{22}$/.test(id) ? at('channel', id) : null;
}

function at(...parts: string[]): YoutubePage {
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
