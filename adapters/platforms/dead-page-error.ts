import { InvalidUrlError, NotLiveError } from '../../core/errors.ts';
import type { DeadPage } from './platform-page.ts';

/** Why a page cannot be watched, by its URL alone: nothing is asked for. */
export function deadPageError(kind: DeadPage['kind'], platform: 'youtube' | 'twitch'): Error {
  const instead = `Give the URL of a broadcast that is live: ${liveForms[platform]}.`;
  return kind === 'other'
    ? new InvalidUrlError(`This page of ${names[platform]} is not one of a stream. ${instead}`)
    : new NotLiveError(`The URL is of ${things[kind]}. ${instead}`);
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
} as const satisfies Record<Exclude<DeadPage['kind'], 'other'>, string>;
