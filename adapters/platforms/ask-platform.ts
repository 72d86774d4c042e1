import { InvalidUrlError, StreamFetchError } from '../../core/errors.ts';
import {
  EgressLimitError,
  EgressNetworkError,
  EgressRefusedError,
  EgressTimeoutError,
  EgressUnresolvedError,
} from '../egress/errors.ts';
import type { GuardedHttp, GuardedRequest, GuardedResponse } from '../egress/guarded-http.ts';

/** Of one answer: YouTube's are up to 2 MB. */
const answerBytes = 8 * 1024 * 1024;
const answerTimeoutMs = 8_000;

/** One request to a platform's own interface. What goes wrong below HTTP is a `StreamFetchError`; any status is an answer. */
export async function askPlatform(
  http: GuardedHttp,
  platform: 'YouTube' | 'Twitch',
  url: string,
  request: Pick<GuardedRequest, 'method' | 'headers' | 'body'>,
): Promise<GuardedResponse> {
  try {
    return await http.request(url, { ...request, maxBytes: answerBytes, timeoutMs: answerTimeoutMs });
  } catch (error) {
    const happened = whatHappened(error);
    if (happened === null) throw error;
    throw new StreamFetchError(`${platform} ${happened}`, undefined, { cause: error });
  }
}

/** An answer that is not in the form that this version knows. */
export function strangeAnswer(platform: 'YouTube' | 'Twitch', cause?: unknown): StreamFetchError {
  return new StreamFetchError(
    `${platform} answered in a form that this version does not know; it changes its interface from time to time. Try again later, or give the stream's HLS playlist (.m3u8), for example as yt-dlp -g or streamlink --stream-url print it.`,
    undefined,
    { cause },
  );
}

/** Why a platform does not let this service in, and what can be done: there is no reliable way from a data centre without either. */
export function keptOut(platform: 'YouTube' | 'Twitch', said: string, cause?: unknown): StreamFetchError {
  const prefix = `WATCHPOST_${platform.toUpperCase()}`;
  return new StreamFetchError(
    `${platform} does not let this service in: ${said}. That is usual for addresses of data centres, and says nothing about the stream. Have the operator set cookies of a signed-in account (${prefix}_COOKIES) or a proxy with another address (${prefix}_PROXY), or give the stream's HLS playlist (.m3u8).`,
    undefined,
    { cause },
  );
}

function whatHappened(error: unknown): string | null {
  if (error instanceof InvalidUrlError || error instanceof EgressRefusedError) {
    return 'is set to an address that is not allowed. Have the operator check the settings (WATCHPOST_ALLOW_RANGES).';
  }
  if (error instanceof EgressTimeoutError) return 'did not answer in time. Try again in a while.';
  if (error instanceof EgressLimitError) return 'answered with more than is sensible. Try again in a while.';
  if (error instanceof EgressUnresolvedError || error instanceof EgressNetworkError) {
    return 'cannot be reached from here. Try again in a while; behind a firewall, have the operator set a proxy.';
  }
  return null;
}
