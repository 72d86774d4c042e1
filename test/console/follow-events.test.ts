import { expect, test } from 'vitest';
import { followEvents } from '../../console/api/follow-events.ts';
import type { Call, Http } from '../../console/api/http.ts';
import { Problem } from '../../console/api/problem.ts';

const event = (sequence: number, type = 'progress') =>
  `event: x\nid: ${sequence}\ndata: ${JSON.stringify({ type, data: { sequence } })}\n\n`;

type Answer = string | ReadableStream | 204 | Error;

/** Creates an HTTP client that returns the given bodies, statuses or errors in order, and records the requests. */
function scripted(answers: Answer[]) {
  const asked: Call[] = [];
  const send: Http['send'] = async (_, call = {}) => {
    asked.push(call);
    const answer = answers.shift();
    if (answer instanceof Error) throw answer;
    return answer === 204 ? new Response(null, { status: 204 }) : new Response(answer);
  };
  return { asked, http: { send, json: () => Promise.reject(new Error('not asked for')) } satisfies Http };
}

async function follow(answers: Answer[], from = 0) {
  const { asked, http } = scripted(answers);
  const sequences: number[] = [];
  const states: string[] = [];
  const problems: Problem[] = [];
  await followEvents(
    http,
    'job',
    from,
    {
      onEvent: ({ data }) => sequences.push(data.sequence),
      onState: (state) => states.push(state),
      onProblem: (problem) => problems.push(problem),
      firstWaitMs: 1,
      silentAfterMs: 30,
    },
    new AbortController().signal,
  );
  const resumedAt = asked.map(({ headers }) => headers?.['Last-Event-ID']);
  return { sequences, states, problems, resumedAt };
}

test('a broken stream resumes after the last received event', async () => {
  const unreachable = new Problem(0, 'UNREACHABLE', 'Watchpost cannot be reached', '');
  const { sequences, states, resumedAt } = await follow([
    event(1) + event(2) + 'data: cut off in the mid',
    unreachable,
    event(3) + event(4, 'job_stopped'),
  ]);
  expect(sequences).toEqual([1, 2, 3, 4]);
  expect(resumedAt).toEqual([undefined, '2', '2']);
  expect(states).toEqual(['live', 'reconnecting', 'reconnecting', 'live', 'over']);
});

test('the client reconnects after the error event of a failed job and reads to the final event', async () => {
  const { sequences, states } = await follow([event(1, 'error'), event(2, 'job_stopped')]);
  expect(sequences).toEqual([1, 2]);
  expect(states.at(-1)).toBe('over');
});

test('a log without further events ends immediately', async () => {
  expect(await follow([204], 7)).toMatchObject({ states: ['over'], resumedAt: ['7'] });
});

test('a silent connection is closed and resumed', async () => {
  const silent = new ReadableStream({
    start: (controller) => controller.enqueue(new TextEncoder().encode(event(1))),
  });
  const { sequences, resumedAt } = await follow([silent, event(2, 'job_stopped')]);
  expect(sequences).toEqual([1, 2]);
  expect(resumedAt).toEqual([undefined, '1']);
});

test('the client retries after 429 and stops after 404', async () => {
  const gone = new Problem(404, 'JOB_NOT_FOUND', 'Job not found', '');
  const tooMany = new Problem(429, 'RATE_LIMITED', 'Too many requests', '');
  expect(await follow([tooMany, gone])).toMatchObject({
    problems: [gone],
    resumedAt: [undefined, undefined],
  });
});
