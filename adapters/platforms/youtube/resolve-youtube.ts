import { StreamError, NotLiveError } from '../../../core/errors.ts';
import { platformBlockedError, unexpectedResponseError } from '../platform-request.ts';
import { BroadcastEndedError, type YoutubePage, type Resolution } from '../resolution.ts';
import { InnertubeStatusError, type Innertube } from './innertube.ts';
import { playerResponseSchema, type PlayerResponse, readDetails, playerState } from './player-state.ts';
import { z } from 'zod';
import { parsePlatformUrl } from '../parse-platform-url.ts';

/** Maximum redirects. A handle may first lead to an older URL of its channel. */
const maxSteps = 3;

/**
 * Returns the id of the live video of a channel. Throws `NotLiveError` if it has none, or the channel does not
 * exist.
 */
async function findLiveVideo(channelPath: string, innertube: Innertube): Promise<string> {
  let path = channelPath;
  for (let step = 0; step < maxSteps; step += 1) {
    const { endpoint } = await resolve(`https://www.youtube.com${path}/live`, innertube);
    if (endpoint.watchEndpoint) return endpoint.watchEndpoint.videoId;
    if (!endpoint.urlEndpoint) throw nothingLive();
    const next = pageAt(endpoint.urlEndpoint.url);
    if (next.videoId !== null) return next.videoId;
    path = next.path;
  }
  throw nothingLive();
}

const resolvedSchema = z.object({
  endpoint: z.object({
    watchEndpoint: z.object({ videoId: z.string().regex(/^[\w-]{11}$/) }).optional(),
    urlEndpoint: z.object({ url: z.string() }).optional(),
  }),
});

async function resolve(url: string, innertube: Innertube): Promise<z.infer<typeof resolvedSchema>> {
  const answer = await innertube.resolveUrl(url).catch((error: unknown) => {
    if (error instanceof InnertubeStatusError && error.status === 404) {
      throw new NotLiveError('The channel does not exist. Check its name in the URL.', undefined, {
        cause: error,
      });
    }
    throw error;
  });
  const parsed = resolvedSchema.safeParse(answer);
  if (!parsed.success) throw unexpectedResponseError('YouTube', parsed.error);
  return parsed.data;
}

/** Parses the target of a redirect. Rejects targets outside YouTube. */
function pageAt(target: string): { videoId: string | null; path: string } {
  const url = URL.parse(target, 'https://www.youtube.com');
  const page = url && parsePlatformUrl(url);
  if (url === null || page?.platform !== 'youtube') throw unexpectedResponseError('YouTube');
  if (page.kind === 'video') return { videoId: page.videoId, path: '' };
  return {
    videoId: null,
    path: page.kind === 'channel' ? page.path : url.pathname.replace(/\/(live)?$/, ''),
  };
}

/** Ended rather than not live: a job of this channel ends with the broadcast. */
function nothingLive(): BroadcastEndedError {
  return new BroadcastEndedError('The channel is not live. Try again when it is.', 'Stream is offline');
}

/**
 * Resolves the broadcast of a YouTube page, as one client after the other until one gets a playlist. Throws
 * `NotLiveError` if a client reports that the video is not live, otherwise the error of the first client.
 */
export async function resolveYoutube(
  page: YoutubePage,
  innertube: Innertube,
  clients: readonly string[],
): Promise<Resolution> {
  const videoId = page.kind === 'video' ? page.videoId : await liveVideo(page.path, innertube);
  let firstRefusal: Error | undefined;
  for (const client of clients) {
    const answer = await ask(videoId, client, innertube);
    if (answer.kind === 'live') return answer.resolution;
    firstRefusal ??= answer.error;
  }
  throw firstRefusal ?? unexpectedResponseError('YouTube');
}

async function liveVideo(path: string, innertube: Innertube): Promise<string> {
  return findLiveVideo(path, innertube).catch((error: unknown) => {
    throw toStreamError(error);
  });
}

type Answer = { kind: 'live'; resolution: Resolution } | { kind: 'refused'; error: Error };

async function ask(videoId: string, client: string, innertube: Innertube): Promise<Answer> {
  const response = await player(videoId, client, innertube);
  if (response instanceof Error) return { kind: 'refused', error: response };
  const state = playerState(response);
  if (state.kind === 'not_live') throw state.error;
  if (state.kind === 'refused') return state;
  const expiresAt = manifestExpiry(state.playlistUrl);
  return {
    kind: 'live',
    resolution: {
      playlistUrl: state.playlistUrl,
      expiresAt,
      // Media playlists have the same signature.
      mediaExpiresAt: expiresAt,
      pageUrl: `https://www.youtube.com/watch?v=${videoId}`,
      details: readDetails(response),
    },
  };
}

async function player(
  videoId: string,
  client: string,
  innertube: Innertube,
): Promise<PlayerResponse | Error> {
  try {
    const parsed = playerResponseSchema.safeParse(await innertube.player(videoId, client));
    return parsed.success ? parsed.data : unexpectedResponseError('YouTube', parsed.error);
  } catch (error) {
    return toStreamError(error);
  }
}

/** Maps errors of InnerTube calls to stream errors. */
function toStreamError(error: unknown): Error {
  if (error instanceof StreamError) return error;
  if (!(error instanceof InnertubeStatusError)) return unexpectedResponseError('YouTube', error);
  if (error.status === 429)
    return platformBlockedError('YouTube', 'it limits requests from this address', error);
  if (error.status === 401 || error.status === 403) {
    return platformBlockedError('YouTube', `it returns HTTP status ${error.status}`, error);
  }
  return unexpectedResponseError('YouTube', error);
}

/**
 * Returns the expiry of a YouTube manifest: Unix seconds in its path (`/expire/1700000000/`) or query. Returns null
 * if absent.
 */
function manifestExpiry(manifestUrl: string): Date | null {
  const { pathname, searchParams } = new URL(manifestUrl);
  const seconds = /\/expire\/(\d{9,11})(\/|$)/.exec(pathname)?.[1] ?? searchParams.get('expire');
  return seconds !== null && /^\d{9,11}$/.test(seconds) ? new Date(Number(seconds) * 1000) : null;
}
