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
