import { z } from 'zod';
import { StreamFetchError } from '../../../core/errors.ts';

/** What a playback access token says of itself: JSON inside of its `value`. Everything may be missing. */
const tokenSchema = z.object({
  expires: z.number().int().positive().optional().catch(undefined),
  ci_gb: z.boolean().default(false).catch(false),
  geoblock_reason: z.string().default('').catch(''),
  authorization: z.object({ forbidden: z.boolean() }).optional().catch(undefined),
  private: z.object({ allowed_to_view: z.boolean() }).optional().catch(undefined),
});

export type AccessToken = z.infer<typeof tokenSchema>;

/** Twitch may change what is inside: what cannot be read says nothing. */
export function readAccessToken(value: string): AccessToken {
  return tokenSchema.catch(saysNothing).parse(fromJson(value));
}

const saysNothing: AccessToken = { ci_gb: false, geoblock_reason: '' };

function fromJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}

/** Why the token will not be let in, as far as it says so itself. */
export function tokenRefusal(token: AccessToken): StreamFetchError | null {
  if (token.ci_gb || token.geoblock_reason !== '') return regionBlocked();
  if (token.private?.allowed_to_view === false || token.authorization?.forbidden === true)
    return restricted();
  return null;
}

export function regionBlocked(): StreamFetchError {
  return new StreamFetchError(
    'The stream is closed to the region of this service, or to its kind of address. Have the operator set a proxy in a region that it is open to (WATCHPOST_TWITCH_PROXY).',
  );
}

export function restricted(): StreamFetchError {
  return new StreamFetchError(
    'The stream is for subscribers, or otherwise not public. Have the operator set cookies of an account that may see it (WATCHPOST_TWITCH_COOKIES), or give a public stream.',
  );
}
