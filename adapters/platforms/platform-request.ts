import { InvalidUrlError, StreamFetchError } from '../../core/errors.ts';
import {
  EgressLimitError,
  EgressNetworkError,
  EgressRefusedError,
  EgressTimeoutError,
  EgressUnresolvedError,
} from '../egress/errors.ts';
import { exceedsJsonLimits, maxValuesOfAnswer } from '../json-limits.ts';
import type { GuardedHttp, GuardedRequest, GuardedResponse } from '../egress/guarded-http.ts';

/** Maximum size of a response, in bytes. YouTube sends up to 2 MB. */
const answerBytes = 8 * 1024 * 1024;
const answerTimeoutMs = 8_000;

/**
 * Sends a request to a platform API and returns the response with any status. Maps failures below HTTP to
 * `StreamFetchError`.
 */
export async function requestPlatform(
  http: GuardedHttp,
  platform: 'YouTube' | 'Twitch',
  url: string,
  request: Pick<GuardedRequest, 'method' | 'headers' | 'body'>,
): Promise<GuardedResponse> {
  try {
    // Pages and JSON, of hosts that are known.
    const headers = { 'accept-encoding': 'gzip, deflate, br', ...request.headers };
    const limits = { maxBytes: answerBytes, timeoutMs: answerTimeoutMs };
    const answer = await http.request(url, { ...request, headers, ...limits });
    if (exceedsJsonLimits(Buffer.from(answer.body).toString('latin1'), maxValuesOfAnswer))
      throw new EgressLimitError('JSON of too many levels or values');
    return answer;
  } catch (error) {
    const failure = describeFailure(error);
    if (failure === null) throw error;
    throw new StreamFetchError(`${platform} ${failure}`, undefined, { cause: error });
  }
}

export function unexpectedResponseError(platform: 'YouTube' | 'Twitch', cause?: unknown): StreamFetchError {
  return new StreamFetchError(
    `${platform} sent a response in an unknown format: its API has probably changed. Try again later, or use the stream's HLS playlist (.m3u8), as printed by yt-dlp -g or streamlink --stream-url.`,
    undefined,
    { cause },
  );
}

/** Error for a platform that blocks this service. From data-center addresses only cookies or a proxy help. */
export function platformBlockedError(
  platform: 'YouTube' | 'Twitch',
  reason: string,
  cause?: unknown,
): StreamFetchError {
  const prefix = `WATCHPOST_${platform.toUpperCase()}`;
  return new StreamFetchError(
    `${platform} blocks this service: ${reason}. Data-center addresses are usually blocked; the stream itself may be fine. Ask the operator to set cookies of a signed-in account (${prefix}_COOKIES) or a proxy (${prefix}_PROXY), or use the stream's HLS playlist (.m3u8).`,
    undefined,
    { cause },
  );
}

function describeFailure(error: unknown): string | null {
  if (error instanceof InvalidUrlError || error instanceof EgressRefusedError) {
    const setting = error instanceof EgressRefusedError ? error.setting : 'the allowed ranges';
    return `is configured with an address that is not allowed. Ask the operator to check ${setting}.`;
  }
  if (error instanceof EgressTimeoutError) return 'did not respond in time. Try again later.';
  if (error instanceof EgressLimitError) return 'sent a response that is too large. Try again later.';
  if (error instanceof EgressUnresolvedError || error instanceof EgressNetworkError) {
    return 'cannot be reached. Try again later. Behind a firewall, ask the operator to set a proxy.';
  }
  return null;
}
