import type { GuardedHttp } from '../../egress/guarded-http.ts';
import type { YoutubeSettings } from '../platform-settings.ts';
import { requestPlatform } from '../platform-request.ts';

/** InnerTube response with a status other than 2xx. */
export class InnertubeStatusError extends Error {
  readonly status: number;

  constructor(status: number) {
    super(`InnerTube returned HTTP status ${status}`);
    this.name = 'InnertubeStatusError';
    this.status = status;
  }
}

/**
 * Creates the `fetch` of youtubei.js. Sends requests for www.youtube.com to `url` with the guarded client and
 * rejects other hosts, so that cookies stay with their host. Throws `InnertubeStatusError`, and like `requestPlatform`.
 */
function createGuardedFetch(http: GuardedHttp, url: string) {
  return async (input: Request | URL | string, init: RequestInit = {}): Promise<Response> => {
    const asked = new URL(input instanceof Request ? input.url : input);
    if (asked.origin !== innertubeOrigin) throw new Error('The library requested another host');
    const answer = await requestPlatform(http, 'YouTube', `${url}${asked.pathname}${asked.search}`, {
      method: (input instanceof Request ? input.method : init.method) === 'POST' ? 'POST' : 'GET',
      headers: Object.fromEntries(new Headers(init.headers)),
      ...(typeof init.body === 'string' ? { body: init.body } : {}),
    });
    if (answer.status < 200 || answer.status > 299) throw new InnertubeStatusError(answer.status);
    return new Response(Buffer.from(answer.body), { status: 200 });
  };
}

const innertubeOrigin = 'https://www.youtube.com';

/**
 * InnerTube API. Each call returns unparsed JSON and throws `InnertubeStatusError`, `StreamFetchError`, or `Error`
 * if the body is not JSON.
 */
export type Innertube = ReturnType<typeof createInnertube>;

/**
 * Creates an InnerTube client with youtubei.js, which imitates YouTube's clients. The library (700 modules) is
 * loaded at the first call. Responses are parsed by our schemas: the library's parser throws at unknown parts and
 * drops rejection reasons.
 */
export function createInnertube(deps: {
  http: GuardedHttp;
  settings: Pick<YoutubeSettings, 'url' | 'cookies'>;
}) {
  let loading: ReturnType<typeof load> | undefined;
  return {
    /** Player response for a video, requested as `client`. */
    player: (videoId: string, client: string) =>
      call('/player', { videoId, client, racyCheckOk: true, contentCheckOk: true, playbackContext }),
    /** Page of a video. */
    watchPage: (videoId: string) => call('/next', { videoId }),
    /** Target of a URL of www.youtube.com. */
    resolveUrl: (url: string) => call('/navigation/resolve_url', { url }),
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
