import type { WebhookRequest, WebhookResult, WebhookSender } from '../../core/ports/delivery.ts';
import {
  EgressLimitError,
  EgressNetworkError,
  EgressRefusedError,
  EgressTimeoutError,
  EgressUnresolvedError,
} from '../egress/errors.ts';
import type { GuardedHttp, GuardedResponse } from '../egress/guarded-http.ts';

export type WebhookSenderOptions = {
  http: GuardedHttp;
  /** Of this service, for the user agent. */
  version: string;
  /** From connect to headers. Default 30, the contract's limit. */
  timeoutSeconds?: number;
  /** Milliseconds of a clock that is never set. */
  elapsedMs: () => number;
};

/** Any answer is a result: what its status means is decided in the core. */
export function createWebhookSender(options: WebhookSenderOptions): WebhookSender {
  return {
    send: async (request) => {
      const startedMs = options.elapsedMs();
      const latencyMs = (): number => Math.round(options.elapsedMs() - startedMs);
      try {
        return answered(await post(options, request), latencyMs());
      } catch (error) {
        // How long a refusal took would tell of names of the inside.
        const shownMs = error instanceof EgressRefusedError ? 0 : latencyMs();
        return { status: null, latencyMs: shownMs, error: explain(error), retryAfter: null };
      }
    },
  };
}

function post(
  options: WebhookSenderOptions,
  { url, headers, body }: WebhookRequest,
): Promise<GuardedResponse> {
  return options.http.request(url, {
    method: 'POST',
    headers: {
      ...headers,
      'content-type': 'application/json',
      'user-agent': `Watchpost/${options.version}`,
    },
    body,
    // A receiver says all that counts in its status; what else it sends is not read.
    headersOnly: true,
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

/** The guard's messages are made to be shown. Anything else is a defect of ours, and none of the receiver's business. */
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
