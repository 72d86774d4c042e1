import { VisionError } from '../../../core/errors.ts';
import { retryWithBackoff, systemBackoff, type BackoffDeps } from '../../retry-with-backoff.ts';

/** Used part of `fetch`. */
export type FetchLike = (
  url: string,
  init: { method: 'POST'; headers: Record<string, string>; body: string; signal: AbortSignal },
) => Promise<{ status: number; headers: { get(name: string): string | null }; text(): Promise<string> }>;

/** Retry options. */
export type RetryOptions = BackoffDeps & {
  /** Maximum attempts of one call, including the first. */
  maxAttempts: number;
};

/** HTTP response. */
export type Reply = { status: number; body: string };

const busyServer = { firstWaitMs: 500, maxWaitMs: 20_000, jitter: 0.2 };

/**
 * Sends a POST and retries if the server is busy (429 with credit left, 503). No other layer does. Waits for `Retry-After`, at most
 * 20 s, or for 0.5, 1 and 2 s. Returns any other status. Throws `VisionError` if the server does not respond, or
 * not in time.
 */
export async function postWithRetry(
  { url, headers, body }: { url: string; headers: Record<string, string>; body: string },
  { fetch, maxAttempts = 4, ...backoff }: { fetch: FetchLike } & Partial<RetryOptions>,
  signal: AbortSignal,
): Promise<Reply> {
  const rule = { ...busyServer, maxAttempts, mustRetry: isBusy, requestedWaitMs: readRetryAfterMs };
  const post = async () => {
    const response = await fetch(url, { method: 'POST', headers, body, signal });
    return {
      status: response.status,
      body: await response.text(),
      retryAfter: response.headers.get('retry-after'),
    };
  };
  try {
    return await retryWithBackoff(post, rule, { ...systemBackoff, ...backoff }, signal);
  } catch (cause) {
    throw signal.aborted
      ? new VisionError('The model did not respond in time. Try again, or use a faster model or server.', {
          cause,
        })
      : new VisionError('The vision server cannot be reached. Check that it is running, and check its URL.', {
          cause,
        });
  }
}

function isBusy({ status, body }: Reply): boolean {
  return (status === 429 && !lacksCredit(body)) || status === 503;
}

/** Returns true if the account of a hosted service has no credit (platform.openai.com/docs/guides/error-codes). */
export function lacksCredit(body: string): boolean {
  return body.includes('insufficient_quota');
}

function readRetryAfterMs({ retryAfter }: { retryAfter: string | null }): number | undefined {
  if (retryAfter === null || retryAfter === '') return undefined;
  const requestedMs = Number(retryAfter) * 1000;
  return Number.isFinite(requestedMs) && requestedMs >= 0
    ? Math.min(requestedMs, busyServer.maxWaitMs)
    : undefined;
}
