import { NotLiveError, StreamFetchError } from '../../../core/errors.ts';
import { keptOut } from '../ask-platform.ts';
import { BroadcastOverError } from '../resolution.ts';
import type { PlayerResponse } from './player-response.ts';

/** Why YouTube does not play a video, by its status and its English words, which are all that it gives. */
export function refusalOf({ playabilityStatus }: PlayerResponse): StreamFetchError | NotLiveError {
  const { status, reason = '', errorScreen } = playabilityStatus;
  const screen = errorScreen?.playerErrorMessageRenderer;
  const words = [reason, screen?.reason, screen?.subreason].filter(Boolean).join(' ').slice(0, 300);
  if (/not a bot|unusual traffic/i.test(words))
    return keptOut('YouTube', 'it asks for a sign-in against bots');
  const known = reasons.find(({ pattern }) => pattern.test(words) || pattern.test(status));
  if (known) return known.error();
  if (status === 'LOGIN_REQUIRED') return keptOut('YouTube', 'it asks for a sign-in');
  // What is not there any more, or never was.
  if (status === 'ERROR') return new NotLiveError('There is no such video (any more). Check the URL.');
  return new StreamFetchError(`YouTube does not play the stream: ${words || status}`);
}

const reasons: { pattern: RegExp; error: () => StreamFetchError | NotLiveError }[] = [
  {
    pattern: /private/i,
    error: () =>
      new StreamFetchError(
        'The stream is private. Have its owner make it public or unlisted, or the operator set cookies of an account that may see it (WATCHPOST_YOUTUBE_COOKIES).',
      ),
  },
  {
    pattern: /members[- ]only|join this channel|membership|members on level/i,
    error: () =>
      new StreamFetchError(
        'The stream is for members of the channel. Have the operator set cookies of a member (WATCHPOST_YOUTUBE_COOKIES), or give a public stream.',
      ),
  },
  {
    pattern: /confirm your age|age[- ]restricted|inappropriate for some|AGE_(VERIFICATION|CHECK)_REQUIRED/i,
    error: () =>
      new StreamFetchError(
        'The stream is restricted by age. Have the operator set cookies of an account of an adult (WATCHPOST_YOUTUBE_COOKIES), or give another stream.',
      ),
  },
  {
    pattern: /in your (country|region|location)|not available in your/i,
    error: () =>
      new StreamFetchError(
        'The stream is closed to the region of this service. Have the operator set a proxy in a region that it is open to (WATCHPOST_YOUTUBE_PROXY).',
      ),
  },
  {
    pattern: /requires payment|\brent(al)?\b|\bpurchase/i,
    error: () => new StreamFetchError('The stream has to be paid for. Give a public one.'),
  },
  {
    pattern: /recording is not available|live (event|stream) has ended|broadcast has ended/i,
    error: () =>
      new BroadcastOverError(
        'The broadcast is over, and there is no recording. Give the URL of one that is live.',
      ),
  },
];
