import { NotLiveError } from '../../../core/errors.ts';
import type { StreamDetails } from '../../../core/records/capture.ts';
import type { GuardedHttp } from '../../egress/guarded-http.ts';
import { platformBlockedError } from '../platform-request.ts';
import type { TwitchPage } from '../platform-page.ts';
import type { TwitchSettings } from '../platform-settings.ts';
import type { Resolution } from '../resolution.ts';
import { readAccessToken, tokenRefusal } from './access-token.ts';
import { queryTwitch, type TwitchChannel } from './twitch-gql.ts';
import { checkUsher, channelOfflineError, usherPlaylistUrl } from './usher.ts';

/**
 * Resolves the broadcast of a Twitch channel. Throws `NotLiveError` (offline, unknown, rerun) and
 * `StreamFetchError`.
 */
export async function resolveTwitch(
  { login }: TwitchPage,
  deps: { http: GuardedHttp; settings: TwitchSettings; random: () => number },
): Promise<Resolution> {
  const { token, channel } = await queryTwitch(login, deps.http, deps.settings);
  checkLive(channel);
  // Without a channel description, a missing token is treated as offline.
  if (token === null)
    throw channel ? platformBlockedError('Twitch', 'it returns no access token') : channelOfflineError();
  const read = readAccessToken(token.value);
  const refusal = tokenRefusal(read);
  if (refusal) throw refusal;
  const playlistUrl = usherPlaylistUrl(deps.settings.usherUrl, login, token, deps.random());
  await checkUsher(playlistUrl, deps.http);
  return {
    playlistUrl,
    expiresAt: read.expires === undefined ? null : new Date(read.expires * 1000),
    // Media playlists outlive the token, and each new one starts with an advertisement.
    mediaExpiresAt: null,
    pageUrl: `https://www.twitch.tv/${login}`,
    details: readDetails(channel),
  };
}

function checkLive(channel: TwitchChannel | undefined): void {
  if (channel === undefined) return;
  if (channel === null) throw new NotLiveError('The channel does not exist. Check its name in the URL.');
  const details = readDetails(channel);
  if (channel.stream === null) throw channelOfflineError(details);
  const { type } = channel.stream;
  if (type && type !== 'live') {
    const remediation = `The channel shows ${type === 'rerun' ? 'a rerun of a past broadcast' : `a ${type}`}. Try again when it is live.`;
    throw new NotLiveError(remediation, undefined, { details });
  }
}

function readDetails(channel: TwitchChannel | undefined): StreamDetails {
  const title = channel?.broadcastSettings?.title ?? channel?.stream?.title;
  const { stream, displayName } = channel ?? {};
  return {
    ...(stream ? { streamId: stream.id } : {}),
    ...(title ? { title } : {}),
    ...(displayName ? { channel: displayName } : {}),
    ...(stream?.previewImageURL ? { thumbnailUrl: stream.previewImageURL } : {}),
    ...(typeof stream?.viewersCount === 'number' ? { viewers: stream.viewersCount } : {}),
  };
}
