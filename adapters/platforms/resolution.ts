import { NotLiveError } from '../../core/errors.ts';
import type { StreamDetails } from '../../core/records/capture.ts';

/** Live stream of a platform and its HLS playlist. */
export type Resolution = {
  /** Signed URL, which grants access to the stream. It is kept in the memory of this process only. */
  playlistUrl: string;
  /** Expiry of `playlistUrl`; null if unknown. */
  expiresAt: Date | null;
  /** Expiry of the media playlists; null if unknown. */
  mediaExpiresAt: Date | null;
  pageUrl: string;
  details: StreamDetails;
};

/** Error for a broadcast that has ended permanently. A running job then ends; a new one is rejected as not live. */
export class BroadcastEndedError extends NotLiveError {
  override name = 'BroadcastEndedError';
}

/** Page of a platform, derived from its URL alone. */
export type PlatformPage =
  | ({ platform: 'youtube' } & (YoutubePage | NotLivePage))
  | ({ platform: 'twitch' } & (TwitchPage | NotLivePage));

/** Page that may be live on YouTube. */
export type YoutubePage =
  | { kind: 'video'; videoId: string }
  /** `path` of the channel, encoded, for example `/%40handle`. Its live video changes. */
  | { kind: 'channel'; path: string };

/** Page that may be live on Twitch. */
export type TwitchPage = { kind: 'channel'; login: string };

/** Page that is never live, or has no stream. */
export type NotLivePage = { kind: 'short' | 'clip' | 'playlist' | 'recording' | 'other' };
