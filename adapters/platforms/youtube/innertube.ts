import type { GuardedHttp } from '../../egress/guarded-http.ts';
import type { YoutubeSettings } from '../platform-settings.ts';
import { createGuardedFetch } from './guarded-fetch.ts';

/**
 * InnerTube API. Each call returns unparsed JSON and throws `InnertubeStatusError`, `StreamFetchError`, or `Error`
 * if the body is not JSON.
 */
export type Innertube = {
  /** Player response for a video, requested as `client`. */
  player(videoId: string, client: string): Promise<unknown>;
  /** Page of a video. */
  watchPage(videoId: string): Promise<unknown>;
  /** Target of a URL of www.youtube.com. */
  resolveUrl(url: string): Promise<unknown>;
};

/**
 * Creates an InnerTube client with youtubei.js, which imitates YouTube's clients. The library (700 modules) is
 * loaded at the first call. Responses are parsed by our schemas: the library's parser throws at unknown parts and
 * drops rejection reasons.
 */
export function createInnertube(deps: {
  http: GuardedHttp;
  settings: Pick<YoutubeSettings, 'url' | 'cookies'>;
}): Innertube {
  let loading: ReturnType<typeof load> | undefined;
  return {
    player: (videoId, client) =>
      call('/player', { videoId, client, racyCheckOk: true, contentCheckOk: true, playbackContext }),
    watchPage: (videoId) => call('/next', { videoId }),
    resolveUrl: (url) => call('/navigation/resolve_url', { url }),
  };

  async function call(endpoint: string, args: Record<string, unknown>): Promise<unknown> {
    loading ??= load(deps);
    const library = await loading.catch((error: unknown) => {
      loading = undefined;
      throw error;
    });
    const { data } = await library.actions.execute(endpoint, args);
    return data;
  }
}

async function load({ http, settings }: Parameters<typeof createInnertube>[0]) {
  const { Innertube: Library, Log } = await import('youtubei.js');
  // The library logs to the console, with URLs and responses.
  Log.setLevel(Log.Level.NONE);
  return Library.create({
    fetch: createGuardedFetch(http, settings.url),
    // No request before it is needed, and no cache on disk.
    retrieve_player: false,
    generate_session_locally: true,
    retrieve_innertube_config: false,
    enable_session_cache: false,
    // Rejection reasons are matched by their English text.
    lang: 'en',
    ...(settings.cookies === null ? {} : { cookie: settings.cookies }),
  });
}

/** Playback context of the library without the signature timestamp: HLS playlists need no deciphering. */
const playbackContext = {
  contentPlaybackContext: { vis: 0, splay: false, lactMilliseconds: '-1' },
};
