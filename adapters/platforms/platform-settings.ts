/** Endpoints and accounts of the platforms. Tests set local servers. */
export type PlatformSettings = { youtube: YoutubeSettings; twitch: TwitchSettings };

export type YoutubeSettings = Account & {
  /** URL of InnerTube, the API of YouTube's own clients. */
  url: string;
  /**
   * InnerTube clients in order of preference, by their names in youtubei.js (`VISIONOS`, `WEB`). YouTube changes
   * which ones it accepts.
   */
  clients: readonly string[];
};

export type TwitchSettings = Account & {
  /** GraphQL endpoint for access tokens. */
  gqlUrl: string;
  /** Usher service, which returns playlists for access tokens. */
  usherUrl: string;
  /** Client id, public: the one of Twitch's web page. */
  clientId: string;
};

/** Account of the operator. Cookies and proxy are used for this platform only. */
type Account = {
  /** Cookies as a `Cookie` header, or null (`readCookies`). */
  cookies: string | null;
  /**
   * Proxy for all requests of the platform, or null. Playlists and segments use it too, because they are bound to
   * the requesting address.
   */
  proxyUrl: string | null;
};

/** Default settings: the public endpoints, without an account. */
export const defaultPlatformSettings: PlatformSettings = {
  youtube: {
    url: 'https://www.youtube.com',
    // These worked in mid-2026. ANDROID_VR returns 403 since August, and IOS requires a token.
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
