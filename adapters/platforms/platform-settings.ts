/** How the platforms are reached. The defaults are the real ones; tests set local servers. */
export type PlatformSettings = { youtube: YoutubeSettings; twitch: TwitchSettings };

export type YoutubeSettings = Account & {
  /** Where InnerTube, the interface of YouTube's own applications, is. */
  url: string;
  /** Applications to ask as, in this order, by their names in youtubei.js (`VISIONOS`, `WEB`): which are let in changes. */
  clients: readonly string[];
};

export type TwitchSettings = Account & {
  /** The GraphQL endpoint that gives access tokens. */
  gqlUrl: string;
  /** The service that gives playlists for tokens. */
  usherUrl: string;
  /** Public: that of Twitch's own web page. */
  clientId: string;
};

/** Of the operator. Both go to the platform alone. */
type Account = {
  /** In the form of a `Cookie` header; null for none. See `readCookies`. */
  cookies: string | null;
  /** Everything of the platform goes through it, playlists and segments too: they are bound to the address that asked. */
  proxyUrl: string | null;
};

export const publicPlatforms: PlatformSettings = {
  youtube: {
    url: 'https://www.youtube.com',
    // Those that worked in mid-2026. ANDROID_VR is answered 403 since August, IOS needs a token.
    clients: ['VISIONOS', 'WEB'],
    cookies: null,
    proxyUrl: null,
  },
  twitch: {
    gqlUrl: 'https://gql.twitch.tv/gql',
    usherUrl: 'https://usher.ttvnw.net',
    clientId: 'kimne78kx3ncx6brgo4mv6wki5h1ko',
    cookies: null,
    proxyUrl: null,
  },
};
