import { Hono } from 'hono';
import { expect, test } from 'vitest';
import { readLastEventId } from '../../../../adapters/http/sse/messages.ts';

const app = new Hono().get('/', (context) => context.json(readLastEventId(context) ?? null));

test.each([
  ['the header alone', { 'Last-Event-ID': '4' }, '', '4'],
  ['the header before the query', { 'Last-Event-ID': '4' }, '?lastEventId=1', '4'],
  ['an empty header before the query', { 'Last-Event-ID': '' }, '?lastEventId=1', ''],
  ['the parameter of a polyfill', {}, '?after=1&lastEventId=3', '3'],
  ['that parameter twice', {}, '?lastEventId=1&lastEventId=3', '3'],
  ['another spelling', {}, '?last_event_id=3', '3'],
  ['the name of the header', {}, '?Last-Event-ID=3', '3'],
  ['an empty parameter', {}, '?lastEventId=&after=3', null],
  ['nothing', {}, '?after=3', null],
])('a reader resumes by %s', async (_, headers: Record<string, string>, query, position) => {
  const response = await app.request(`/${query}`, { headers });
  expect(await response.json()).toBe(position);
});
