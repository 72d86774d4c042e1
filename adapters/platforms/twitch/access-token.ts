import { z } from 'zod';
import { StreamFetchError } from '../../../core/errors.ts';

/** Claims of a playback access token: the JSON in its `value`. Every field is optional. */
const tokenSchema = z.object({
  expires: z.number().int().positive().optional().catch(undefined),
  ci_gb: z.boolean().default(false).catch(false),
  geoblock_reason: z.string().default('').catch(''),
  authorization: z.object({ forbidden: z.boolean() }).optional().catch(undefined),
  private: z.object({ allowed_to_view: z.boolean() }).optional().catch(undefined),
});

/** Claims of a playback access token. */
export type AccessToken = z.infer<typeof tokenSchema>;

/** Reads the claims of a token. Unreadable claims are treated as absent, because Twitch may change the format. */
export function readAccessToken(value: string): AccessToken {
  return tokenSchema.catch(noClaims).parse(fromJson(value));
}

const noClaims: AccessToken = { ci_gb: false, geoblock_reason: '' };

function fromJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}

/** Returns the error for a token that Twitch will reject according to its claims, or null. */
export function tokenRefusal(token: AccessToken): StreamFetchError | null {
  if (token.ci_gb || token.geoblock_reason !== '') return regionBlockedError();
  if (token.private?.allowed_to_view === false || token.authorization?.forbidden === true)
    return restrictedError();
  return null;
}

/** Error for a stream that is blocked in this region. */
export function regionBlockedError(): StreamFetchError {
  return new StreamFetchError(
    'The stream is blocked in the region of this service, or for its kind of address. Ask the operator to set a proxy in another region (WATCHPOST_TWITCH_PROXY).',
  );
}

/** Error for a stream with restricted access. */
export function restrictedError(): StreamFetchError {
  return new StreamFetchError(
    'The stream is restricted to subscribers or otherwise not public. Ask the operator to set cookies of an account with access (WATCHPOST_TWITCH_COOKIES), or use a public stream.',
  );
}
