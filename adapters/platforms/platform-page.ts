/** What the page of a platform is, by its URL alone. */
export type PlatformPage =
  ({ platform: 'youtube' } & (YoutubePage | DeadPage)) | ({ platform: 'twitch' } & (TwitchPage | DeadPage));

export type YoutubePage =
  | { kind: 'video'; videoId: string }
  /** `path`: of the channel, encoded, such as `/%40handle`; what is live there changes. */
  | { kind: 'channel'; path: string };

export type TwitchPage = { kind: 'channel'; login: string };

/** Never live, or no page of a stream at all. */
export type DeadPage = { kind: 'short' | 'clip' | 'playlist' | 'recording' | 'other' };
