import { z } from 'zod';
import { StreamFetchError } from '../../../core/errors.ts';
import type { GuardedHttp } from '../../egress/guarded-http.ts';
import { askPlatform, keptOut } from '../ask-platform.ts';
import { BroadcastOverError } from '../resolution.ts';
import { regionBlocked, restricted } from './access-token.ts';
import type { TwitchToken } from './twitch-gql.ts';

/** The URL of a channel's multivariant playlist, as Twitch's own player asks for it; H.264 alone, which every ffmpeg reads. */
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

/** Lets usher say why it refuses, which a capture that merely sees a status cannot know. */
export async function checkUsher(playlistUrl: string, http: GuardedHttp): Promise<void> {
  const { status, body } = await askPlatform(http, 'Twitch', playlistUrl, {});
  if (status === 200) return;
  if (status === 404) throw offline();
  throw status === 403 ? forbidden(errorCode(body)) : unexplained(status);
}

/** A broadcaster who lost the connection stays live for a while: what Twitch calls offline is over. */
export function offline(details = {}): BroadcastOverError {
  return new BroadcastOverError('The channel is not live now. Try again when it is.', 'Stream is offline', {
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
  if (code === 'content_geoblocked') return regionBlocked();
  if (code === 'unauthorized_entitlements') return restricted();
  return keptOut('Twitch', 'it refuses the playlist');
}

function unexplained(status: number): StreamFetchError {
  return new StreamFetchError(`Twitch answered with HTTP status ${status}. Try again in a while.`);
}
