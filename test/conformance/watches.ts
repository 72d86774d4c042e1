import type { Answer, Api } from './api.ts';
import type { Target } from './case.ts';
import { assert, eventually, excerpt } from './expect.ts';

type Body = Record<string, unknown>;

/** Returns a watch that opens at its first check by default. */
export function watchBody({ streams, conditions }: Target, fields: Body = {}): Body {
  const checks = { checks_to_open: 1, checks_considered: 1, checks_to_close: 1 };
  return {
    name: 'Conformance',
    stream_url: streams.live,
    interval_seconds: 5,
    conditions: [{ condition_id: 'one', condition: conditions.holds, ...checks }],
    ...fields,
  };
}

/** Creates a watch, and deletes it at the end of the case. */
export async function withWatch(
  target: Target,
  fields: Body,
  run: (watch: any, path: string) => Promise<void>,
): Promise<void> {
  const { api } = target;
  const { body: watch } = done(await api.call('POST', '/watches', watchBody(target, fields)));
  try {
    await run(watch, `/watches/${watch.watch_id}`);
  } finally {
    await api.call('DELETE', `/watches/${watch.watch_id}`);
  }
}

export function done(answer: Answer): Answer {
  assert.equal(answer.status, 200, excerpt(answer.text));
  return answer;
}

export async function read(api: Api, path: string): Promise<any> {
  return done(await api.call('GET', path)).body;
}

/** Waits until the first condition of a watch has a state. */
export function untilState(api: Api, path: string, state: string): Promise<any> {
  return eventually(
    `the condition is ${state}`,
    60,
    () => read(api, path),
    (watch) => (watch.state.conditions[0].state === state ? watch : undefined),
  );
}

export function untilStatus(api: Api, path: string, status: string): Promise<any> {
  return eventually(
    `the watch is ${status}`,
    60,
    () => read(api, path),
    (watch) => (watch.status === status ? watch : undefined),
  );
}

/** Returns the events of a log without `progress`. */
export async function readEvents(api: Api, path: string): Promise<any[]> {
  const { events } = await read(api, `${path}/events?limit=1000`);
  return events.filter(({ type }: { type: string }) => type !== 'progress');
}

export const seconds = 25;
export const needs = ['stream', 'decisions'] as const;
