import { setTimeout as sleep } from 'node:timers/promises';
import { readSse, type SseEvent } from './sse.ts';

/** Response of the service. */
export type Answer = {
  status: number;
  headers: Headers;
  text: string;
  /** Parsed body; undefined if it is not JSON. */
  body: any;
};

export type CallOptions = {
  headers?: Record<string, string>;
  /** Raw body instead of JSON. */
  text?: string;
};

/** Client of the service for one caller. */
export type Api = {
  baseUrl: string;
  key: string;
  call(method: string, path: string, body?: unknown, options?: CallOptions): Promise<Answer>;
  /** Sends a request with `Accept: text/event-stream` and returns the response before its stream is read. */
  open(path: string, body: unknown, headers?: Record<string, string>): Promise<EventStream>;
  /** Jobs that this case created, which the suite cancels afterwards. */
  created: Set<string>;
};

/** Open event stream. */
export type EventStream = {
  status: number;
  headers: Headers;
  events(): AsyncGenerator<SseEvent>;
};

/** Maximum duration of a synchronous response, in milliseconds: a hybrid check of a slow model behind a 60 s proxy. */
const answerTimeoutMs = 75_000;

type ApiOptions = {
  baseUrl: string;
  key: string;
  signal: AbortSignal;
  /** Called before a wait for a rate limit, with its milliseconds. */
  onRateLimit?: (waitMs: number) => void;
  /** Headers of every request. */
  always?: Record<string, string>;
};

/** Creates a client. */
export function createApi({
  baseUrl,
  key,
  signal,
  onRateLimit = () => undefined,
  always = {},
}: ApiOptions): Api {
  const created = new Set<string>();
  const authorization = key === '' ? {} : { authorization: `Bearer ${key}` };

  return {
    baseUrl,
    key,
    created,
    call: async (method, path, body, { headers = {}, text } = {}) => {
      const payload = text ?? (body === undefined ? undefined : JSON.stringify(body));
      const answer = await sendWithRetry(
        () =>
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
        onRateLimit,
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

/** Sends a request, and repeats it after a rate limit, at most 20 times. */
async function sendWithRetry(
  send: () => Promise<Response>,
  onRateLimit: (waitMs: number) => void,
): Promise<Answer> {
  for (let attempt = 1; ; attempt += 1) {
    const answer = await read(await send());
    const code: unknown = answer.body?.error?.code;
    // Both say when to ask again: the suite runs its cases together, beside other work of the machine.
    const isLimited = (answer.status === 429 && code !== 'MAX_JOBS_REACHED') || code === 'SERVICE_OVERLOADED';
    if (!isLimited || attempt === 20) return answer;
    const waitMs = Math.min(10, Number(answer.headers.get('retry-after') ?? 1) || 1) * 1000;
    onRateLimit(waitMs);
    await sleep(waitMs);
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
