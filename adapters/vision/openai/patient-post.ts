import { setTimeout as sleepFor } from 'node:timers/promises';
import { VisionError } from '../../../core/errors.ts';

/** The part of `fetch` that is used. */
export type FetchLike = (
  url: string,
  init: { method: 'POST'; headers: Record<string, string>; body: string; signal: AbortSignal },
) => Promise<{ status: number; headers: { get(name: string): string | null }; text(): Promise<string> }>;

export type Patience = {
  /** Tries of one call, the first included. */
  maxAttempts: number;
  sleep: (milliseconds: number, signal: AbortSignal) => Promise<void>;
  /** Between 0 and 1: spreads out those who wait for the same server. */
  random: () => number;
};

export type Reply = { status: number; body: string };

const longestWaitMs = 20_000;

/**
 * The one layer at which a busy server (429, 503) is asked again: after its `Retry-After`, at most 20 s, or after 0.5,
 * 1, 2 s. Other statuses are for the caller to read. Throws `VisionError` where there is no reply, or none in time.
 */
export async function patientPost(
  { url, headers, body }: { url: string; headers: Record<string, string>; body: string },
  {
    fetch,
    maxAttempts = 4,
    sleep = sleepUnlessAborted,
    random = Math.random,
  }: { fetch: FetchLike } & Partial<Patience>,
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
      ? new VisionError('The model did not answer in time. Try again, or use a faster model or server.', {
          cause,
        })
      : new VisionError('The vision server cannot be reached. Check that it runs, and its URL.', { cause });
  }
}

function waitMs(retryAfter: string | null, attempt: number, random: number): number {
  const asked = retryAfter === null || retryAfter === '' ? Number.NaN : Number(retryAfter) * 1000;
  const wait = Number.isFinite(asked) && asked >= 0 ? asked : 500 * 2 ** (attempt - 1) * (0.8 + 0.4 * random);
  return Math.min(wait, longestWaitMs);
}

async function sleepUnlessAborted(milliseconds: number, signal: AbortSignal): Promise<void> {
  await sleepFor(milliseconds, undefined, { signal });
}
