import { setTimeout as sleepFor } from 'node:timers/promises';
import { VisionError } from '../../../core/errors.ts';

/** Used part of `fetch`. */
export type FetchLike = (
  url: string,
  init: { method: 'POST'; headers: Record<string, string>; body: string; signal: AbortSignal },
) => Promise<{ status: number; headers: { get(name: string): string | null }; text(): Promise<string> }>;

/** Retry options. */
export type RetryOptions = {
  /** Maximum attempts of one call, including the first. */
  maxAttempts: number;
  sleep: (milliseconds: number, signal: AbortSignal) => Promise<void>;
  /** Random number from 0 to 1, for the jitter of the backoff. */
  random: () => number;
};

/** HTTP response. */
export type Reply = { status: number; body: string };

const maxWaitMs = 20_000;

/**
 * Sends a POST and retries if the server is busy (429, 503). No other layer does. Waits for `Retry-After`, at most
 * 20 s, or for 0.5, 1 and 2 s. Returns any other status. Throws `VisionError` if the server does not respond, or
 * not in time.
 */
export async function postWithRetry(
  { url, headers, body }: { url: string; headers: Record<string, string>; body: string },
  {
    fetch,
    maxAttempts = 4,
    sleep = sleepUnlessAborted,
    random = Math.random,
  }: { fetch: FetchLike } & Partial<RetryOptions>,
  signal: AbortSignal,
): Promise<Reply> {
  try {
    for (let attempt = 1; ; attempt += 1) {
      const response = await fetch(url, { method: 'POST', headers, body, signal });
      const reply = { status: response.status, body: await response.text() };
      const busy = reply.status === 429 || reply.status === 503;
      if (!busy || attempt >= maxAttempts) return reply;
      await sleep(waitMs(response.headers.get('retry-after'), attempt, random()), signal);
    }
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

function waitMs(retryAfter: string | null, attempt: number, random: number): number {
  const asked = retryAfter === null || retryAfter === '' ? Number.NaN : Number(retryAfter) * 1000;
  const wait = Number.isFinite(asked) && asked >= 0 ? asked : 500 * 2 ** (attempt - 1) * (0.8 + 0.4 * random);
  return Math.min(wait, maxWaitMs);
}

async function sleepUnlessAborted(milliseconds: number, signal: AbortSignal): Promise<void> {
  await sleepFor(milliseconds, undefined, { signal });
}
