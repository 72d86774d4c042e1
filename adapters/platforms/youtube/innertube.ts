import type { GuardedHttp } from '../../egress/guarded-http.ts';
import type { YoutubeSettings } from '../platform-settings.ts';
import { createGuardedFetch } from './guarded-fetch.ts';

/** Calls of InnerTube, each an unread JSON answer. Throw `InnertubeStatusError`, `StreamFetchError`, and `Error` for no JSON. */
export type Innertube = {
  /** What a player of the application `client` is told of a video. */
  player(videoId: string, client: string): Promise<unknown>;
  /** The page of a video, as a browser shows it. */
  watchPage(videoId: string): Promise<unknown>;
  /** What a URL of www.youtube.com leads to. */
  resolveUrl(url: string): Promise<unknown>;
};

/**
 * InnerTube by youtubei.js, which knows how each application presents itself. The library (700 modules) is loaded with the first call.
 * Its raw answers are read by our own schemas: its parser throws at what it does not know, and drops the reasons of refusals.
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
  // It writes to the console, URLs and answers included.
  Log.setLevel(Log.Level.NONE);
  return Library.create({
    fetch: createGuardedFetch(http, settings.url),
    // Nothing is asked for before it is needed, and nothing is kept on disk.
    retrieve_player: false,
    generate_session_locally: true,
    retrieve_innertube_config: false,
    enable_session_cache: false,
    // Reasons of refusals are told apart by their English words.
    lang: 'en',
    ...(settings.cookies === null ? {} : { cookie: settings.cookies }),
  });
}

/** As the library's own calls have it, without the signature timestamp: HLS playlists need no deciphering. */
const playbackContext = {
  contentPlaybackContext: { vis: 0, splay: false, lactMilliseconds: '-1' },
};
