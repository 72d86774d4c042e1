import { afterEach, expect, test, vi } from 'vitest';
import { followEvents } from '../../console/api/follow-events.ts';
import type { Call } from '../../client/transport.ts';
import { unreachable, type Problem } from '../../console/api/problem.ts';

afterEach(() => vi.useRealTimers());

const event = (sequence: number, type = 'progress') =>
  `event: x\nid: ${sequence}\ndata: ${JSON.stringify({ type, data: { sequence } })}\n\n`;

type Answer = string | Response | Error;

/** Creates an HTTP client that returns the given bodies, responses or errors in order, and records the requests. */
function scripted(answers: Answer[]) {
  const requests: Call[] = [];
  const open = async (call: Call) => {
    requests.push(call);
    const answer = answers.shift();
    if (answer instanceof Error) throw answer;
    return answer instanceof Response ? answer : new Response(answer);
  };
  return { requests, http: { open } };
}

const failure = (status: number, code: string, headers: Record<string, string> = {}) =>
  Response.json({ error: { code, message: code, remediation: 'Wait.' } }, { status, headers });

async function follow(answers: Answer[], from = 0) {
  const { requests, http } = scripted(answers);
  const sequences: number[] = [];
  const states: string[] = [];
  const problems: Problem[] = [];
  const waits: number[] = [];
  await followEvents(
    http,
    'job',
    from,
    {
      onEvent: ({ data }) => sequences.push(data.sequence),
      onState: (state) => states.push(state),
      onProblem: (problem) => problems.push(problem),
    },
    new AbortController().signal,
    async (milliseconds) => void waits.push(milliseconds),
  );
  const resumedAt = requests.map(({ headers }) => headers?.['Last-Event-ID']);
  return { sequences, states, problems, resumedAt, waits };
}

test('a broken stream resumes after the last received event', async () => {
  const { sequences, states, resumedAt } = await follow([
    event(1) + event(2) + 'data: cut off in the mid',
    unreachable(new TypeError('Failed to fetch')),
    event(3) + event(4, 'job_stopped'),
  ]);
  expect(sequences).toEqual([1, 2, 3, 4]);
  expect(resumedAt).toEqual(['0', '2', '2']);
  expect(states).toEqual(['live', 'reconnecting', 'reconnecting', 'live', 'over']);
});

test('the console reconnects after the error event of a failed job and reads to the final event', async () => {
  const { sequences, states } = await follow([event(1, 'error'), event(2, 'job_stopped')]);
  expect(sequences).toEqual([1, 2]);
  expect(states.at(-1)).toBe('over');
});

test('a log without further events ends immediately', async () => {
  const answer = new Response(null, { status: 204 });
  expect(await follow([answer], 7)).toMatchObject({ states: ['over'], resumedAt: ['7'] });
});

test('a silent connection is closed and resumed', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  const { requests, http } = scripted([]);
  const sequences: number[] = [];
  const following = followEvents(
    {
      open: (call) =>
        requests.length === 0
          ? http.open(call).then(() => new Response(silentAfter(event(1), call.signal)))
          : http.open(call).then(() => new Response(event(2, 'job_stopped'))),
    },
    'job',
    0,
    {
      onEvent: ({ data }) => {
        sequences.push(data.sequence);
        if (data.sequence === 1) setImmediate(() => vi.advanceTimersByTime(45_000));
      },
      onState: () => undefined,
      onProblem: (problem) => expect.fail(problem.message),
    },
    new AbortController().signal,
    async () => undefined,
  );
  await following;
  expect(sequences).toEqual([1, 2]);
  expect(requests.map(({ headers }) => headers?.['Last-Event-ID'])).toEqual(['0', '1']);
});

/** Returns a body that sends one chunk, then nothing until `signal` aborts, as `fetch` does. */
function silentAfter(chunk: string, signal: AbortSignal | undefined): ReadableStream {
  return new ReadableStream({
    start: (controller) => {
      controller.enqueue(new TextEncoder().encode(chunk));
      signal?.addEventListener('abort', () => controller.error(signal.reason));
    },
  });
}

test('the console waits as long as a 429 requests and stops after 404', async () => {
  const busy = failure(429, 'RATE_LIMITED', { 'Retry-After': '7' });
  const { problems, resumedAt, waits } = await follow([busy, failure(404, 'JOB_NOT_FOUND')]);
  expect(problems).toMatchObject([{ status: 404, code: 'JOB_NOT_FOUND', remedy: 'Wait.' }]);
  expect(resumedAt).toEqual(['0', '0']);
  expect(waits[0]).toBe(7_000);
});

test('the console reconnects without a limit of attempts', async () => {
  const outage = Array.from({ length: 50 }, () => unreachable(new TypeError('Failed to fetch')));
  const { problems, sequences, waits } = await follow([...outage, event(1, 'job_stopped')]);
  expect({ problems, sequences }).toEqual({ problems: [], sequences: [1] });
  expect(Math.max(...waits)).toBeLessThanOrEqual(30_000);
});

test('the console reports nothing after its signal aborts', async () => {
  const leaving = new AbortController();
  const { http } = scripted([new Response(silentAfter(event(1), leaving.signal))]);
  const seen: unknown[] = [];
  await followEvents(
    http,
    'job',
    0,
    {
      onEvent: ({ data }) => {
        seen.push(data.sequence);
        leaving.abort();
      },
      onState: (state) => seen.push(state),
      onProblem: (problem) => seen.push(problem),
    },
    leaving.signal,
  );
  expect(seen).toEqual(['live', 1]);
});
