import { z } from 'zod';
import { StreamFetchError } from '../../../core/errors.ts';
import type { GuardedHttp } from '../../egress/guarded-http.ts';
import { requestPlatform, platformBlockedError } from '../platform-request.ts';
import { BroadcastEndedError } from '../resolution.ts';
import { regionBlockedError, restrictedError } from './access-token.ts';
import type { TwitchToken } from './twitch-gql.ts';

/**
 * Returns the URL of a channel's multivariant playlist, with the parameters of Twitch's player. Requests H.264
 * only, which every ffmpeg decodes.
 */
export function usherPlaylistUrl(
  usherUrl: string,
  login: string,
  token: TwitchToken,
  random: number,
): string {
  const query = new URLSearchParams({
    allow_source: 'true',
    playlist_include_framerate: 'true',
    player_backend: 'mediaplayer',
    platform: 'web',
    supported_codecs: 'h264',
    p: String(Math.floor(random * 9_999_999)),
    sig: token.signature,
    token: token.value,
  });
  return `${usherUrl}/api/v2/channel/hls/${login}.m3u8?${query.toString()}`;
}

/** Requests the playlist once to read the reason of a rejection, which a capture would only see as a status. */
export async function checkUsher(playlistUrl: string, http: GuardedHttp): Promise<void> {
  const { status, body } = await requestPlatform(http, 'Twitch', playlistUrl, {});
  if (status === 200) return;
  if (status === 404) throw channelOfflineError();
  throw status === 403 ? forbidden(errorCode(body)) : unexplained(status);
}

/**
 * Error for an offline channel, which has ended: after a lost connection, Twitch keeps a channel live for a while.
 */
export function channelOfflineError(details = {}): BroadcastEndedError {
  return new BroadcastEndedError('The channel is not live. Try again when it is.', 'Stream is offline', {
    details,
  });
}

const errorsSchema = z.array(z.object({ error_code: z.string() })).min(1);

function errorCode(body: Uint8Array): string {
  try {
    return errorsSchema.parse(JSON.parse(Buffer.from(body).toString()))[0]?.error_code ?? '';
  } catch {
    return '';
  }
}

function forbidden(code: string): StreamFetchError {
  if (code === 'content_geoblocked') return regionBlockedError();
  if (code === 'unauthorized_entitlements') return restrictedError();
  return platformBlockedError('Twitch', 'it rejects the playlist request');
}

function unexplained(status: number): StreamFetchError {
  return new StreamFetchError(`Twitch returned HTTP status ${status}. Try again later.`);
}
