import type { InputMode } from '../../../../core/records/capture.ts';
import { InvalidUrlError, NotLiveError, StreamError, StreamFetchError } from '../../../../core/errors.ts';
import { EgressLimitError, EgressTimeoutError } from '../../../egress/errors.ts';
import type { CookieJar } from '../../../egress/cookies.ts';
import type { GuardedHttp, GuardedResponse } from '../../../egress/guarded-http.ts';
import type { Steps } from '../../../steps.ts';
import { chooseScanVariant, nameVariant, rankVariants } from './choose-variant.ts';
import { webStreamError, httpStatusError } from '../../web/fetch-failure.ts';
import { sniffBody, kindFromContentType, type ContentKind } from '../../web/sniff-content.ts';
import {
  parseInSteps,
  PlaylistError,
  type MediaPlaylist,
  type MultivariantPlaylist,
  type Variant,
} from './playlist.ts';
import {
  PlaylistBudgetError,
  type PlaylistBudget,
  type PlaylistShare,
  PlaylistLimitError,
} from './playlist-budget.ts';
import type { Variables } from './variables.ts';

export type PlaylistFetcher = {
  http: GuardedHttp;
  playlistBytes: number;
  requestTimeoutMs: number;
  budget: PlaylistBudget;
  /** Caller who holds the playlists. */
  caller: string;
  cookies?: CookieJar | undefined;
  prepare?: PreparePlaylist;
};

/** Transforms every fetched playlist. `paused`: its newest segments are an advertisement, not the stream. */
export type PreparePlaylist = (playlist: Uint8Array) => { playlist: Uint8Array; paused: boolean };

/** Media playlist. `paused` as in `PreparePlaylist`. */
export type FetchedPlaylist = MediaPlaylist & { paused: boolean };

/** Smaller rendition of a stream, which scans read. */
export type Rendition = { name: string; url: string; variables: Variables };

/** Media playlist with the rendition to scan; `null` if it is the playlist itself. */
export type ResolvedPlaylist = FetchedPlaylist & { rendition: Rendition | null };

/** The server has no such playlist (HTTP 404 or 410). */
export class PlaylistGoneError extends StreamFetchError {
  override name = 'PlaylistGoneError';
}

/**
 * Fetches the media playlist of a URL, through the variant that suffices for the mode. Throws `PlaylistGoneError`,
 * `StreamFetchError`, `InvalidUrlError`, and `NotLiveError` if the URL is a video file.
 */
export async function fetchMediaPlaylist(
  fetcher: PlaylistFetcher,
  url: string,
  mode: InputMode,
  signal: AbortSignal,
): Promise<ResolvedPlaylist> {
  const playlist = await fetchPlaylist(fetcher, url, noVariables, signal);
  if (playlist.kind === 'media') return { ...playlist, rendition: null };
  const { variants, variables } = playlist;
  const [best, ...others] = rankVariants(variants, mode);
  if (best === undefined)
    throw new StreamFetchError('The playlist lists no variant stream with video. Use a stream with video.');
  const fetch = async (variant: Variant): Promise<ResolvedPlaylist> => {
    const scanned = chooseScanVariant(variants, variant);
    const rendition = scanned && { name: nameVariant(scanned), url: scanned.url, variables };
    return { ...(await fetchRendition(fetcher, { url: variant.url, variables }, signal)), rendition };
  };
  try {
    return await fetch(best);
  } catch (error) {
    // One alternative is tried: a playlist may list a second server for the same stream.
    const [other] = others.filter((variant) => variant.url !== best.url);
    if (other === undefined || !canRetryElsewhere(error)) throw error;
    return await fetch(other).catch(() => {
      throw error;
    });
  }
}

const noVariables: Variables = new Map<string, string>();

/** Returns false after a timeout, because no time is left for another server. */
export function canRetryElsewhere(error: unknown): boolean {
  return error instanceof StreamError && !(error.cause instanceof EgressTimeoutError);
}

/**
 * Fetches the media playlist of a variant stream. Where a server names a further multivariant playlist, its smallest
 * sufficient variant counts.
 */
export async function fetchRendition(
  fetcher: PlaylistFetcher,
  { url, variables }: Pick<Rendition, 'url' | 'variables'>,
  signal: AbortSignal,
): Promise<FetchedPlaylist> {
  const playlist = await fetchPlaylist(fetcher, url, variables, signal);
  if (playlist.kind === 'media') return playlist;
  const [best] = rankVariants(playlist.variants, 'frames');
  const nested = best && (await fetchPlaylist(fetcher, best.url, playlist.variables, signal));
  if (nested?.kind === 'media') return nested;
  throw new StreamFetchError(
    'The playlist refers to further multivariant playlists. Use the URL of one variant stream.',
  );
}

async function fetchPlaylist(
  fetcher: PlaylistFetcher,
  url: string,
  imported: Variables,
  signal: AbortSignal,
): Promise<MultivariantPlaylist | FetchedPlaylist> {
  const share = fetcher.budget.open(fetcher.caller);
  try {
    const ask = () => request(fetcher, url, share, signal);
    const first = await ask();
    // Some servers answer without a body now and then.
    const isEmpty = first.status === 200 && first.body.length === 0;
    const response = isEmpty ? await ask() : first;
    const reading = share.read(readPlaylist(fetcher, response, imported));
    return await reading.finally(() => release(response.body));
  } catch (error) {
    throw error instanceof PlaylistBudgetError ? busyError(error) : error;
  } finally {
    share.close();
  }
}

/** Frees the memory of a body: large ones would wait for the garbage collection. */
function release({ buffer }: Uint8Array): void {
  if (buffer instanceof ArrayBuffer) buffer.transfer(0);
}

function* readPlaylist(
  fetcher: PlaylistFetcher,
  response: GuardedResponse,
  imported: Variables,
): Steps<MultivariantPlaylist | FetchedPlaylist> {
  if (response.status === 404 || response.status === 410) {
    throw new PlaylistGoneError(
      'The server does not have this playlist (any more). Check the URL, and that the stream is running.',
    );
  }
  if (response.status !== 200) throw httpStatusError(response.status, 'playlist');
  const { playlist, paused } = fetcher.prepare?.(response.body) ?? { playlist: response.body, paused: false };
  try {
    const parsed = yield* parseInSteps(playlist, response.url, imported);
    return parsed.kind === 'media' ? { ...parsed, paused } : parsed;
  } catch (cause) {
    if (!(cause instanceof PlaylistError)) throw cause;
    throw cause.cause instanceof PlaylistLimitError
      ? tooLong(cause.cause)
      : noPlaylist(foundInstead(response), cause);
  }
}

async function request(
  fetcher: PlaylistFetcher,
  url: string,
  share: PlaylistShare,
  signal: AbortSignal,
): Promise<GuardedResponse> {
  const { playlistBytes: maxBytes, requestTimeoutMs: timeoutMs, cookies } = fetcher;
  const options = { maxBytes, timeoutMs, cookies, signal: AbortSignal.any([signal, share.signal]) };
  try {
    return await fetcher.http.request(url, { ...options, onChunk: share.count });
  } catch (error) {
    if (error instanceof PlaylistBudgetError) throw error;
    if (!(error instanceof EgressLimitError)) throw webStreamError(error, 'playlist');
    // A body above the limit is probably a video file. Its headers show the content type.
    const headers = await fetcher.http.request(url, { ...options, headersOnly: true }).catch(() => null);
    const kind = kindFromContentType(headers?.headers['content-type'] ?? '');
    throw kind === 'something else' ? webStreamError(error, 'playlist') : noPlaylist(kind, error);
  }
}

function foundInstead({ body, headers }: GuardedResponse): ContentKind {
  const kind = sniffBody(body);
  return kind === 'something else' ? kindFromContentType(headers['content-type'] ?? '') : kind;
}

function tooLong(cause: PlaylistLimitError): StreamFetchError {
  return new StreamFetchError(`${cause.message}. ${cause.remedy}`, undefined, { cause });
}

function busyError(cause: PlaylistBudgetError): StreamFetchError {
  return new StreamFetchError(
    'The service fetches too many large playlists right now. Try again in a minute, or use a playlist with a shorter window.',
    undefined,
    { cause },
  );
}

function noPlaylist(content: ContentKind, cause: unknown): StreamError {
  if (content === 'an empty response') {
    return new StreamFetchError('The playlist is empty. Check that the stream is running.', undefined, {
      cause,
    });
  }
  if (content === 'a video file') {
    return new NotLiveError(
      'The URL leads to a video file. Use the URL of a live HLS playlist (.m3u8).',
      undefined,
      { cause },
    );
  }
  return new InvalidUrlError(
    `The URL leads to ${content}, not to an HLS playlist. Use the URL of the stream's .m3u8 playlist.`,
    {
      cause,
    },
  );
}
