import type { WebhookResult } from '../../core/ports/delivery.ts';
import {
  EgressLimitError,
  EgressNetworkError,
  EgressRefusedError,
  EgressTimeoutError,
  EgressUnresolvedError,
} from '../egress/errors.ts';
import type { GuardedHttp, GuardedResponse } from '../egress/guarded-http.ts';
import type { DestinationOutcome } from '../../core/ports/destinations.ts';

/** HTTP request to a destination: POST with a body, else GET. */
export type HttpRequest = {
  url: string;
  headers: Record<string, string>;
  body: string | Uint8Array | null;
};

/** Statuses of a receiver that no later attempt changes. */
export type PermanentStatuses = { gone: readonly number[]; rejected: readonly number[] };

/** Returns a POST of JSON. */
export function jsonRequest(url: string, content: object): HttpRequest {
  return { url, headers: { 'content-type': 'application/json' }, body: JSON.stringify(content) };
}

/** Options of `createHttpSender`. */
export type HttpSenderOptions = {
  http: GuardedHttp;
  /** Version of this service, for the user agent. */
  version: string;
  /** Timeout from connect to headers, in seconds. Default: 30, the limit of the interface. */
  timeoutSeconds?: number;
  /** Monotonic clock, in milliseconds. */
  elapsedMs: () => number;
};

/** Sender of requests to all destinations over HTTP. */
export type HttpSender = { send(request: HttpRequest): Promise<WebhookResult> };

/** Returns the meaning of a response: 2xx delivers, `null` is no response, any other one is retried, redirects included. */
export function outcomeFor(status: number | null, { gone, rejected }: PermanentStatuses): DestinationOutcome {
  if (status === null) return 'retry';
  if (status >= 200 && status < 300) return 'delivered';
  if (gone.includes(status)) return 'gone';
  return rejected.includes(status) ? 'rejected' : 'retry';
}

/** Creates a sender. Every response is a result; `outcomeFor` has its meaning. */
export function createHttpSender(options: HttpSenderOptions): HttpSender {
  return {
    send: async (request) => {
      const startedMs = options.elapsedMs();
      const latencyMs = (): number => Math.round(options.elapsedMs() - startedMs);
      try {
        return answered(await post(options, request), latencyMs());
      } catch (error) {
        // The duration of a refusal would disclose internal names.
        const shownMs = error instanceof EgressRefusedError ? 0 : latencyMs();
        const isBroken = error instanceof EgressNetworkError && error.fault === 'closed';
        const result = { status: null, latencyMs: shownMs, error: explain(error), retryAfter: null };
        return { ...result, ...(isBroken && { isBroken }) };
      }
    },
  };
}

function post(options: HttpSenderOptions, { url, headers, body }: HttpRequest): Promise<GuardedResponse> {
  return options.http.request(url, {
    method: body === null ? 'GET' : 'POST',
    headers: {
      ...headers,
      'user-agent': `Watchpost/${options.version}`,
    },
    ...(body !== null && { body }),
    // The status contains the whole result of a receiver. Its body is not read.
    headersOnly: true,
    isLenient: true,
    maxBytes: 0,
    maxRedirects: 0,
    timeoutMs: (options.timeoutSeconds ?? 30) * 1_000,
  });
}

function answered(answer: GuardedResponse, latencyMs: number): WebhookResult {
  return {
    status: answer.status,
    latencyMs,
    error: null,
    retryAfter: answer.headers['retry-after'] ?? null,
  };
}

/** Returns the message of an egress error, which is safe to show. Throws any other error, which is a defect. */
function explain(error: unknown): string {
  const isShown = shown.some((type) => error instanceof type);
  if (isShown && error instanceof Error) return error.message;
  throw error;
}

const shown = [
  EgressRefusedError,
  EgressUnresolvedError,
  EgressLimitError,
  EgressTimeoutError,
  EgressNetworkError,
];
