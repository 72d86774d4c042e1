import { z } from 'zod';
import type { WebhookResult, DestinationOutcome, DestinationResult } from '../../core/ports/delivery.ts';
import {
  EgressLimitError,
  EgressNetworkError,
  EgressRefusedError,
  EgressTimeoutError,
  EgressUnresolvedError,
} from '../egress/errors.ts';
import type { GuardedHttp, GuardedResponse } from '../egress/guarded-http.ts';
import type { EvidenceFile } from './describe.ts';
import { parseJson } from '../../core/parse-json.ts';

/** HTTP request to a destination: POST with a body, else GET. */
export type HttpRequest = {
  method?: 'PATCH';
  url: string;
  headers: Record<string, string>;
  body: string | Uint8Array | null;
  /** True if the body of the answer has a meaning; else it is not read. */
  readsAnswer?: true;
};

/** Statuses of a receiver that no later attempt changes. */
export type PermanentStatuses = { gone: readonly number[]; rejected: readonly number[] };

export function jsonRequest(url: string, content: object): HttpRequest {
  return { url, headers: { 'content-type': 'application/json' }, body: JSON.stringify(content) };
}

/** Returns a POST of a form with a file as its last field. Fields that are no text are JSON. */
export function multipartRequest(
  url: string,
  id: string,
  fields: Record<string, unknown>,
  fileField: string,
  { filename, contentType, content }: EvidenceFile,
): HttpRequest {
  const boundary = `watchpost-${id}`;
  const part = (name: string, more = '') =>
    `--${boundary}\r\ncontent-disposition: form-data; name="${name}"${more}\r\n\r\n`;
  const texts = Object.entries(fields).map(
    ([name, value]) => `${part(name)}${typeof value === 'string' ? value : JSON.stringify(value)}\r\n`,
  );
  const head = `${texts.join('')}${part(fileField, `; filename="${filename}"\r\ncontent-type: ${contentType}`)}`;
  return {
    url,
    headers: { 'content-type': `multipart/form-data; boundary=${boundary}` },
    body: Buffer.concat([Buffer.from(head), content, Buffer.from(`\r\n--${boundary}--\r\n`)]),
  };
}

export type HttpSenderOptions = {
  http: GuardedHttp;
  /** Version of this service, for the user agent. */
  version: string;
  /** Timeout from connect to headers, in seconds. Default: 30, the limit of the interface. */
  timeoutSeconds?: number;
  /** Monotonic clock, in milliseconds. */
  elapsedMs: () => number;
};

export type HttpSender = { send(request: HttpRequest): Promise<HttpResult> };

/** Result with the body of the answer, if it was to be read. */
export type HttpResult = WebhookResult & { body?: string };

/** Content of an answer beside its status. */
const answerSchema = z.object({
  /** Seconds to wait, of Discord: proxies leave the header out. */
  retry_after: z.union([z.number().nonnegative(), z.string()]).optional().catch(undefined),
  /** Refusals of PagerDuty and Telegram: what a gateway forwards with a status of its own may be a refusal. */
  status: z.string().optional().catch(undefined),
  ok: z.boolean().optional().catch(undefined),
  message: z.string().optional().catch(undefined),
});

/**
 * Returns a result with what the body of its answer says: a refusal behind a status of success is one, and a page is
 * that of a login in front of the receiver.
 */
export function readAnswer(
  { body = '', ...result }: HttpResult,
  statuses: PermanentStatuses,
): DestinationResult {
  const { data } = answerSchema.safeParse(parseJson(body));
  const outcome = outcomeFor(result.status, statuses);
  const isRefused = data?.ok === false || /^(?:invalid|error|fail)/i.test(data?.status ?? '');
  const seconds = data?.retry_after;
  // Not sent again: a receiver that answers with a page may have accepted it.
  if (outcome === 'delivered' && /^\s*</.test(body) && /<(?:!doctype )?html\b/i.test(body))
    return { ...result, outcome: 'rejected', error: pageError, mayBeAccepted: true };
  return {
    ...result,
    outcome: outcome === 'delivered' && isRefused ? 'rejected' : outcome,
    ...(isRefused && {
      error: `The receiver answered ${result.status}: ${data?.message ?? data?.status ?? 'not ok'}`.slice(
        0,
        300,
      ),
    }),
    retryAfter: result.retryAfter ?? (seconds === undefined ? null : String(seconds)),
  };
}

/** Error of an answer that is a page. */
const pageError = 'The receiver answered with a web page: is a login before it?';

/** Size of an answer that is read. */
const maxAnswerBytes = 100_000;

/**
 * Returns the meaning of a response: 2xx delivers, `null` is no response, any other one is retried, redirects included.
 */
export function outcomeFor(status: number | null, { gone, rejected }: PermanentStatuses): DestinationOutcome {
  if (status === null) return 'retry';
  if (status >= 200 && status < 300) return 'delivered';
  if (gone.includes(status)) return 'gone';
  return rejected.includes(status) ? 'rejected' : 'retry';
}

/** Size of a request that slow connections send in time, in bytes: 0.3 Mbit/s. */
const maxQuickBytes = 1_000_000;

/** Creates a sender. Every response is a result; `outcomeFor` has its meaning. */
export function createHttpSender(options: HttpSenderOptions): HttpSender {
  return {
    send: async (request) => {
      const startedMs = options.elapsedMs();
      const latencyMs = (): number => Math.round(options.elapsedMs() - startedMs);
      try {
        const { status, headers, body } = await post(options, request);
        const result = {
          status,
          latencyMs: latencyMs(),
          error: null,
          retryAfter: headers['retry-after'] ?? null,
        };
        return { ...result, ...(request.readsAnswer && { body: Buffer.from(body).toString() }) };
      } catch (error) {
        // The duration of a refusal would disclose internal names.
        const shownMs = error instanceof EgressRefusedError ? 0 : latencyMs();
        const isBroken =
          (error instanceof EgressNetworkError && error.fault === 'closed') ||
          (error instanceof EgressTimeoutError &&
            error.isConnected &&
            (request.body?.length ?? 0) > maxQuickBytes);
        const result = { status: null, latencyMs: shownMs, error: explain(error), retryAfter: null };
        return { ...result, ...(isBroken && { isBroken }) };
      }
    },
  };
}

function post(
  options: HttpSenderOptions,
  { method, url, headers, body, readsAnswer }: HttpRequest,
): Promise<GuardedResponse> {
  return options.http.request(url, {
    method: body === null ? 'GET' : (method ?? 'POST'),
    headers: {
      ...headers,
      'user-agent': `Watchpost/${options.version}`,
    },
    ...(body !== null && { body }),
    // The status contains the whole result of most receivers.
    headersOnly: readsAnswer !== true,
    mayLackBody: true,
    isLenient: true,
    maxBytes: maxAnswerBytes,
    maxRedirects: 0,
    timeoutMs: (options.timeoutSeconds ?? 30) * 1_000,
  });
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
