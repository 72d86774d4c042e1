import { InvalidUrlError, NotLiveError } from '../../core/errors.ts';
import type { NotLivePage } from './platform-page.ts';

/** Returns the error for a page that is never live, from its URL alone. */
export function notLivePageError(kind: NotLivePage['kind'], platform: 'youtube' | 'twitch'): Error {
  const instead = `Use the URL of a live broadcast: ${liveForms[platform]}.`;
  return kind === 'other'
    ? new InvalidUrlError(`This ${names[platform]} page has no stream. ${instead}`)
    : new NotLiveError(`The URL leads to ${things[kind]}. ${instead}`);
}

const names = { youtube: 'YouTube', twitch: 'Twitch' } as const;

const liveForms = {
  youtube:
    'https://www.youtube.com/watch?v=ID, https://youtu.be/ID, https://www.youtube.com/@handle/live or /channel/UC…/live',
  twitch: 'https://www.twitch.tv/name',
} as const;

const things = {
  short: 'a short',
  clip: 'a clip',
  playlist: 'a playlist',
  recording: 'a past broadcast',
} as const satisfies Record<Exclude<NotLivePage['kind'], 'other'>, string>;
