import { setTimeout as sleep } from 'node:timers/promises';
import { readSse } from './sse.ts';
import type { SseEvent } from './sse.ts';

export type Answer = {
  status: number;
  headers: Headers;
  text: string;
  /** The parsed body; undefined where it is no JSON. */
  body: any;
};

export type CallOptions = {
  headers?: Record<string, string>;
  /** Sent as it is, in place of JSON. */
  text?: string;
};

/** The service as one caller sees it. */
export type Api = {
  baseUrl: string;
  key: string;
  call(method: string, path: string, body?: unknown, options?: CallOptions): Promise<Answer>;
  /** POST with `Accept: text/event-stream`; the answer before its stream is read. */
  open(path: string, body: unknown, headers?: Record<string, string>): Promise<EventStream>;
  /** Jobs that this case has made, so that none is left behind. */
  created: Set<string>;
};

export type EventStream = {
  status: number;
  headers: Headers;
  events(): AsyncGenerator<SseEvent>;
};

/** The longest that a synchronous answer may take: a hybrid check of a slow model, and the 60 s of a proxy before it. */
const answerTimeoutMs = 75_000;

export function createApi(
  baseUrl: string,
  key: string,
  signal: AbortSignal,
  always: Record<string, string> = {},
): Api {
  const created = new Set<string>();
  const authorization = key === '' ? {} : { authorization: `Bearer ${key}` };

  return {
    baseUrl,
    key,
    created,
    call: async (method, path, body, { headers = {}, text } = {}) => {
      const payload = text ?? (body === undefined ? undefined : JSON.stringify(body));
      const answer = await patiently(() =>
        fetch(`${baseUrl}${path}`, {
          method,
          redirect: 'manual',
          signal: AbortSignal.any([signal, AbortSignal.timeout(answerTimeoutMs)]),
          headers: {
            ...authorization,
            ...always,
            ...(payload === undefined ? {} : { 'content-type': 'application/json' }),
            ...headers,
          },
          ...(payload === undefined ? {} : { body: payload }),
        }),
      );
      if (typeof answer.body?.job_id === 'string' && method === 'POST') created.add(answer.body.job_id);
      return answer;
    },
    open: async (path, body, headers = {}) => {
      const response = await fetch(`${baseUrl}${path}`, {
        method: body === undefined ? 'GET' : 'POST',
        signal,
        headers: {
          ...authorization,
          'content-type': 'application/json',
          accept: 'text/event-stream',
          ...headers,
        },
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      });
      return {
        status: response.status,
        headers: response.headers,
        events: async function* () {
          for await (const event of readSse(response)) {
            const jobId = event.data?.data?.job_id ?? event.data?.job_id;
            if (typeof jobId === 'string') created.add(jobId);
            yield event;
          }
        },
      };
    },
  };
}

/** A service may limit rates; that is no failure, but a reason to wait. */
async function patiently(send: () => Promise<Response>): Promise<Answer> {
  for (let tries = 1; ; tries += 1) {
    const answer = await read(await send());
    const isLimited = answer.status === 429 && answer.body?.error?.code !== 'MAX_JOBS_REACHED';
    if (!isLimited || tries === 20) return answer;
    await sleep(Math.min(10, Number(answer.headers.get('retry-after') ?? 1) || 1) * 1000);
  }
}

async function read(response: Response): Promise<Answer> {
  const text = await response.text();
  return { status: response.status, headers: response.headers, text, body: parsed(text) };
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
