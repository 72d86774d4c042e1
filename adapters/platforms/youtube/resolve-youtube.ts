import { StreamError } from '../../../core/errors.ts';
import { platformBlockedError, unexpectedResponseError } from '../platform-request.ts';
import type { YoutubePage } from '../platform-page.ts';
import type { Resolution } from '../resolution.ts';
import { InnertubeStatusError } from './guarded-fetch.ts';
import type { Innertube } from './innertube.ts';
import { findLiveVideo } from './live-video.ts';
import { playerResponseSchema, type PlayerResponse } from './player-response.ts';
import { readDetails, playerState } from './player-state.ts';

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
