import { Readable } from 'node:stream';
import { z } from 'zod';
import { VisionError } from '../../../core/vision-errors.ts';
import { parseRetryAfter } from '../../../core/outside-time.ts';
import { EgressLimitError } from '../../egress/errors.ts';
import { collectBytes } from '../../egress/read-body.ts';
import { exceedsJsonLimits, maxValuesOfAnswer } from '../../json-limits.ts';
import { retryWithBackoff, systemBackoff, type BackoffDeps } from '../../retry-with-backoff.ts';
import { parseJson } from '../../../core/parse-json.ts';

export type FetchLike = (
  url: string,
  init: {
    method: 'POST';
    headers: Record<string, string>;
    body: string;
    signal: AbortSignal;
    redirect: 'manual';
  },
) => Promise<{
  status: number;
  headers: { get(name: string): string | null };
  body: AsyncIterable<unknown> | null;
}>;

export type RetryOptions = BackoffDeps & {
  /** Maximum attempts of one call, including the first. */
  maxAttempts: number;
};

/** HTTP response. */
export type Reply = { status: number; body: string };

const maxAnswerBytes = 8 * 1024 * 1024;

const busyServer = { firstWaitMs: 500, maxWaitMs: 20_000, jitter: 0.2 };

/**
 * Sends a POST and retries if the server is busy: 429 with credit left, 402 that states a wait, 502, 503, and 529 of
 * Anthropic. No other layer does. Waits for `Retry-After`, at most 20 s, or for 0.5, 1 and 2 s. Returns any other
 * status. Throws `VisionError` if the server does not respond, not in time, or sends elsewhere.
 */
export async function postWithRetry(
  request: { url: string; headers: Record<string, string>; body: string },
  { fetch, maxAttempts = 4, ...backoff }: { fetch: FetchLike } & Partial<RetryOptions>,
  signal: AbortSignal,
): Promise<Reply> {
  const rule = { ...busyServer, maxAttempts, mustRetry: isBusy, requestedWaitMs };
  try {
    const post = () => postOnce(request, fetch, signal);
    return await retryWithBackoff(post, rule, { ...systemBackoff, ...backoff }, signal);
  } catch (cause) {
    if (cause instanceof VisionError) throw cause;
    throw signal.aborted
      ? new VisionError('The model did not respond in time. Try again, or use a faster model or server.', {
          cause,
        })
      : new VisionError('The vision server cannot be reached. Check that it is running, and check its URL.', {
          cause,
        });
  }
}

type TimedReply = Reply & { retryAfterSeconds: number | undefined };

/**
 * Follows redirects at the same host, as a POST. A client of the web would send a GET after 301 and 302, and the key to
 * any host.
 */
async function postOnce(
  { url, headers, body }: { url: string; headers: Record<string, string>; body: string },
  fetch: FetchLike,
  signal: AbortSignal,
  redirectsLeft = 3,
): Promise<TimedReply> {
  const response = await fetch(url, { method: 'POST', headers, body, signal, redirect: 'manual' });
  const location = response.headers.get('location');
  const text = await readText(response.body);
  if ([301, 302, 303, 307, 308].includes(response.status) && location !== null) {
    const target = URL.canParse(location, url) ? new URL(location, url) : undefined;
    const isSame = target !== undefined && isSameServer(new URL(url), target);
    if (!isSame || redirectsLeft === 0 || response.status === 303) throw redirectError(target);
    return postOnce({ url: target.href, headers, body }, fetch, signal, redirectsLeft - 1);
  }
  const wait = response.headers.get('retry-after') ?? readWait(text);
  const retryAfterSeconds = parseRetryAfter(wait, new Date());
  const status = response.status === 200 ? (readInnerStatus(text) ?? 200) : response.status;
  return { status, body: text, retryAfterSeconds };
}

/**
 * Reads an answer, whose thoughts may be long, one token per chunk. Throws `VisionError` for one that is larger, or has
 * more levels or values.
 */
async function readText(body: AsyncIterable<unknown> | null): Promise<string> {
  try {
    const text = new TextDecoder().decode(await collectBytes(body ?? Readable.from([]), maxAnswerBytes));
    if (!exceedsJsonLimits(text, maxValuesOfAnswer)) return joinStream(text);
  } catch (error) {
    if (!(error instanceof EgressLimitError)) throw error;
  }
  throw new VisionError('The vision server sends more than an answer. Check its URL, and its log.');
}

/** Returns the wait in the body of an error: Gemini has a `retryDelay`, OpenAI a sentence, gateways a `retry_after`. */
function readWait(body: string): string | null {
  const [, delay, sentence] =
    /"(?:retryDelay|retry_?after)"\s*:\s*"?([\d.]+)|try again in ([\d.]+) ?s/i.exec(body.slice(0, 4_000)) ??
    [];
  return delay ?? sentence ?? null;
}

/** The key stays at its host, and on TLS. The port of plain HTTP and of TLS may differ. */
function isSameServer(from: URL, to: URL): boolean {
  const isSecured = from.protocol === 'http:' && to.protocol === 'https:';
  return from.hostname === to.hostname && (from.origin === to.origin || isSecured);
}

function redirectError(target: URL | undefined): VisionError {
  return new VisionError(
    `The vision server redirects to ${target?.origin ?? 'another address'}, where pictures and key are not sent. Set its URL (WATCHPOST_OPENAI_URL) to the final address.`,
  );
}

const failureSchema = z.object({
  code: z.unknown().optional(),
  message: z.unknown().optional(),
});
const innerErrorSchema = z.object({
  error: z.union([failureSchema, z.string()]).nullish(),
  choices: z
    .array(z.object({ finish_reason: z.unknown(), error: failureSchema.nullish().catch(null) }))
    .nullish()
    .catch(null),
});

/**
 * Returns the status of an error that arrives with status 200: a router sends it before its upstream answers
 * (openrouter.ai/docs/api/reference/errors-and-debugging). Returns undefined for any other body.
 */
function readInnerStatus(body: string): number | undefined {
  const { success, data } = innerErrorSchema.safeParse(parseJson(body));
  const [choice] = data?.choices ?? [];
  const failed = choice?.finish_reason === 'error' || isStated(choice?.error);
  const error = [data?.error, choice?.error].find(isStated);
  if (!success || (!failed && (choice || !error))) return undefined;
  const code = Number(typeof error === 'object' ? error?.code : undefined);
  if (Number.isInteger(code) && code >= 400 && code < 600) return code;
  return /rate.?limit|too many requests|overloaded/i.test(JSON.stringify(error ?? '')) ? 429 : 500;
}

/** Returns true for an error with a code or a message: gateways also send an empty one with each answer. */
function isStated(error: z.infer<typeof innerErrorSchema>['error']): boolean {
  return typeof error === 'object' ? Boolean(error?.code) || Boolean(error?.message) : Boolean(error);
}

function isBusy({ status, body, retryAfterSeconds }: TimedReply): boolean {
  if (status === 402) return retryAfterSeconds !== undefined;
  return (status === 429 && !lacksCredit({ status, body })) || [502, 503, 529].includes(status);
}

/** Returns true if the account of a hosted service has no credit (platform.openai.com/docs/guides/error-codes). */
export function lacksCredit({ status, body }: Reply): boolean {
  return status === 402 || /insufficient_quota|insufficient.?balance|credit balance is too low/i.test(body);
}

function requestedWaitMs({ retryAfterSeconds: seconds }: TimedReply): number | undefined {
  return !seconds ? undefined : Math.min(seconds * 1000, busyServer.maxWaitMs);
}

const textSchema = z.string().nullish().catch(null);
const messageSchema = z.object({
  content: textSchema,
  reasoning: textSchema,
  reasoning_content: textSchema,
  refusal: textSchema,
});
const chunkSchema = z.object({
  choices: z
    .array(
      z.object({
        index: z.number().catch(0),
        delta: messageSchema.nullish().catch(null),
        message: messageSchema.nullish().catch(null),
        finish_reason: z.unknown().optional(),
      }),
    )
    .nullish()
    .catch(null),
  error: z.unknown().optional(),
  usage: z.unknown().optional(),
});
type Chunk = z.infer<typeof chunkSchema>;
type Message = z.infer<typeof messageSchema>;

/**
 * Returns the completion that a server streams although the request says `stream: false`
 * (github.com/unslothai/unsloth/issues/6570), as the JSON that it should be; any other body unchanged. An error in the
 * stream is the error of the completion.
 */
export function joinStream(body: string): string {
  if (!/^\s*(?::|(?:data|event|id|retry):)/.test(body)) return body;
  const chunks = body.split(/\r?\n\r?\n/).flatMap(readChunks);
  if (chunks.length === 0) return body;
  const all = chunks.flatMap((chunk) => chunk.choices ?? []);
  const first = all.reduce((least, { index }) => Math.min(least, index), Infinity);
  // Some gateways number the parts of one choice.
  const hasSeveral = chunks.some((chunk) => (chunk.choices?.length ?? 0) > 1);
  const choices = hasSeveral ? all.filter(({ index }) => index === first) : all;
  const deltas = choices.flatMap(({ delta }) => delta ?? []);
  const whole = choices.flatMap(({ message }) => message ?? []).slice(-1);
  const parts = deltas.length > 0 ? deltas : whole;
  const message = {
    content: join(parts, 'content'),
    reasoning: join(parts, 'reasoning') ?? join(parts, 'reasoning_content'),
    refusal: join(parts, 'refusal'),
  };
  const error = chunks.findLast((chunk) => chunk.error)?.error;
  const usage = chunks.findLast((chunk) => chunk.usage)?.usage;
  const finish = choices.findLast(({ finish_reason: reason }) => reason)?.finish_reason;
  // The parts before an error are no answer.
  if (error && !finish) return JSON.stringify({ error, usage });
  return JSON.stringify({ choices: choices.length > 0 ? [{ message, finish_reason: finish }] : [], usage });
}

/**
 * Reads an event: its lines of data are one JSON, or one each for servers that leave out the empty line. `[DONE]` is no
 * JSON.
 */
function readChunks(event: string): Chunk[] {
  const lines = event
    .split(/\r?\n/)
    .filter((line) => !/^(?:event|id|retry|):/.test(line))
    .map((line) => line.replace(/^data: ?/, ''));
  const whole = parseChunk(lines.join('\n'));
  return whole ? [whole] : lines.flatMap((line) => parseChunk(line) ?? []);
}

function parseChunk(text: string): Chunk | undefined {
  return chunkSchema.safeParse(parseJson(text)).data;
}

/** Joins a field of the parts of a message; null if none has it. */
function join(parts: readonly Message[], name: keyof Message): string | null {
  const texts = parts.flatMap((part) => part[name] ?? []);
  return texts.length > 0 ? texts.join('') : null;
}
