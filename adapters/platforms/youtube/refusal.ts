import { NotLiveError, StreamFetchError } from '../../../core/errors.ts';
import { platformBlockedError } from '../platform-request.ts';
import { BroadcastEndedError } from '../resolution.ts';
import type { PlayerResponse } from './player-response.ts';

/** Returns the error for a rejected video, from its status and English text. YouTube gives no other reason. */
export function readRefusal({ playabilityStatus }: PlayerResponse): StreamFetchError | NotLiveError {
  const { status, reason = '', errorScreen } = playabilityStatus;
  const screen = errorScreen?.playerErrorMessageRenderer;
  const words = [reason, screen?.reason, screen?.subreason].filter(Boolean).join(' ').slice(0, 300);
  if (/not a bot|unusual traffic/i.test(words))
    return platformBlockedError('YouTube', 'it requires a sign-in to exclude bots');
  const known = reasons.find(({ pattern }) => pattern.test(words) || pattern.test(status));
  if (known) return known.error();
  if (status === 'LOGIN_REQUIRED') return platformBlockedError('YouTube', 'it requires a sign-in');
  // Deleted or nonexistent video.
  if (status === 'ERROR') return new NotLiveError('The video does not exist (any more). Check the URL.');
  return new StreamFetchError(`Use another stream. YouTube rejects this one: ${words || status}`);
}

const reasons: { pattern: RegExp; error: () => StreamFetchError | NotLiveError }[] = [
  {
    pattern: /private/i,
    error: () =>
      new StreamFetchError(
        'The stream is private. Ask its owner to make it public or unlisted, or ask the operator to set cookies of an account with access (WATCHPOST_YOUTUBE_COOKIES).',
      ),
  },
  {
    pattern: /members[- ]only|join this channel|membership|members on level/i,
    error: () =>
      new StreamFetchError(
        'The stream is restricted to members of the channel. Ask the operator to set cookies of a member (WATCHPOST_YOUTUBE_COOKIES), or use a public stream.',
      ),
  },
  {
    pattern: /confirm your age|age[- ]restricted|inappropriate for some|AGE_(VERIFICATION|CHECK)_REQUIRED/i,
    error: () =>
      new StreamFetchError(
        'The stream is age-restricted. Ask the operator to set cookies of an adult account (WATCHPOST_YOUTUBE_COOKIES), or use another stream.',
      ),
  },
  {
    pattern: /in your (country|region|location)|not available in your/i,
    error: () =>
      new StreamFetchError(
        'The stream is blocked in the region of this service. Ask the operator to set a proxy in another region (WATCHPOST_YOUTUBE_PROXY).',
      ),
  },
  {
    pattern: /requires payment|\brent(al)?\b|\bpurchase/i,
    error: () => new StreamFetchError('The stream requires payment. Use a public stream.'),
  },
  {
    pattern: /recording is not available|live (event|stream) has ended|broadcast has ended/i,
    error: () =>
      new BroadcastEndedError(
        'The broadcast has ended without a recording. Use the URL of a live broadcast.',
      ),
  },
];
